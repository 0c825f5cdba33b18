#include "core/data/drawn/story.h"

#include <array>
#include <string_view>

#include "core/data/drawn/drawn_part.h"
#include "core/data/draws.h"
#include "core/data/portable_math.h"

namespace tributary {
namespace {

using Words = std::span<const std::string_view>;

// No list contains a word twice: otherwise the entropy would be lower than the counted bits.
constexpr std::string_view kStoryNames[] = {"Ada",  "Ben", "Cleo", "Dara",
                                            "Emil", "Fay", "Gus",  "Hana"};
constexpr std::string_view kThings[] = {"stone", "lamp",  "boat", "kettle",
                                        "drum",  "river", "coat", "letter"};
constexpr std::string_view kPlaces[] = {"harbour", "market", "garden", "tower",
                                        "bridge",  "mill",   "forest", "station"};
constexpr std::string_view kStoryColours[] = {"red",   "blue",  "green", "white",
                                              "black", "brown", "grey",  "yellow"};
constexpr std::string_view kVerbs[] = {"see",  "carry", "paint", "find",
                                       "want", "hide",  "sell",  "hear"};
constexpr std::string_view kVerbsOfOne[] = {"sees",  "carries", "paints", "finds",
                                            "wants", "hides",   "sells",  "hears"};
constexpr std::string_view kNumberWords[] = {
    "zero",     "one",     "two",     "three",     "four",    "five",   "six",
    "seven",    "eight",   "nine",    "ten",       "eleven",  "twelve", "thirteen",
    "fourteen", "fifteen", "sixteen", "seventeen", "eighteen"};
constexpr std::uint32_t kAddends = 10;

class Narrator {
 public:
  explicit Narrator(Draws draws) : draws_(draws) {}

  // Produces one sentence with the bits of its choices.
  Story narrate() {
    story_ = {};
    switch (choose(4)) {
      case 0:
        narrate_one();
        break;
      case 1:
        narrate_two();
        break;
      case 2:
        ask();
        break;
      default:
        count();
    }
    return std::move(story_);
  }

 private:
  // Every random choice goes through this function, so no bits are missed.
  std::uint32_t choose(std::uint32_t alternatives) {
    story_.bits += portable_log(alternatives) / portable_log(2);
    return draws_.below(alternatives);
  }
  std::string_view choose(Words words) {
    return words[choose(static_cast<std::uint32_t>(words.size()))];
  }
  void say(std::initializer_list<std::string_view> words) {
    for (const std::string_view word : words) story_.text += word;
  }

  // Example: "Ada finds the red stone in the garden."
  void narrate_one() {
    const std::string_view name = choose(kStoryNames);
    const std::string_view verb = choose(kVerbsOfOne);
    const std::string_view colour = choose(kStoryColours);
    const std::string_view thing = choose(kThings);
    const std::string_view place = choose(kPlaces);
    say({name, " ", verb, " the ", colour, " ", thing, " in the ", place, ".\n"});
  }

  // Example: "Ada and Ben carry two lamps to the mill." The second name differs from the first.
  void narrate_two() {
    const std::uint32_t first = choose(std::size(kStoryNames));
    const std::uint32_t step = choose(std::size(kStoryNames) - 1);
    const std::string_view second = kStoryNames[(first + 1 + step) % std::size(kStoryNames)];
    const std::string_view verb = choose(kVerbs);
    const std::string_view count = kNumberWords[2 + choose(kAddends - 2)];
    const std::string_view thing = choose(kThings);
    const std::string_view place = choose(kPlaces);
    say({kStoryNames[first], " and ", second, " ", verb, " ", count, " ", thing, "s at the ", place,
         ".\n"});
  }

  // Example: "Where is the lamp, Ben? asks Ada. The lamp is at the mill, Ada, says Ben."
  void ask() {
    const std::string_view thing = choose(kThings);
    const std::uint32_t asked = choose(std::size(kStoryNames));
    const std::uint32_t step = choose(std::size(kStoryNames) - 1);
    const std::string_view person = kStoryNames[asked];
    const std::string_view by = kStoryNames[(asked + 1 + step) % std::size(kStoryNames)];
    const std::string_view place = choose(kPlaces);
    say({"Where is the ", thing, ", ", person, "? asks ", by, ". The ", thing, " is at the ", place,
         ", ", by, ", says ", person, ".\n"});
  }

  // Example: "Three and four is seven."
  void count() {
    const std::uint32_t first = choose(kAddends);
    const std::uint32_t second = choose(kAddends);
    const std::size_t begin = story_.text.size();
    say({kNumberWords[first], " and ", kNumberWords[second], " is ", kNumberWords[first + second],
         ".\n"});
    story_.text[begin] = static_cast<char>(story_.text[begin] - 'a' + 'A');
  }

  Draws draws_;
  Story story_;
};

}  // namespace

Story draw_story(std::uint64_t seed, DataPart part, std::uint64_t characters) {
  // A new address every 1024 sentences, because a stream has only 2^32 draws.
  constexpr std::uint32_t kSentencesPerAddress = 1024;
  Story story;
  for (std::uint32_t chapter = 0; story.text.size() < characters; ++chapter) {
    Narrator narrator(Draws(drawn_address(seed, DrawnKind::text, part, chapter)));
    for (std::uint32_t i = 0; i < kSentencesPerAddress && story.text.size() < characters; ++i) {
      const Story sentence = narrator.narrate();
      story.text += sentence.text;
      story.bits += sentence.bits;
    }
  }
  // The last sentence is cut, and its bits are counted in proportion.
  const double kept = static_cast<double>(characters);
  if (!story.text.empty()) story.bits *= kept / static_cast<double>(story.text.size());
  story.text.resize(characters);
  return story;
}

}  // namespace tributary
