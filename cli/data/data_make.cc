// tributary data make: draws a synthetic data set.
#include <fmt/format.h>

#include <array>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/accept.h"
#include "cli/commands.h"
#include "cli/json.h"
#include "cli/text.h"
#include "core/data/drawn/make.h"

namespace tributary {
namespace {

using Json = nlohmann::ordered_json;

// In the order of DrawnKind, because an index into this list is converted to it.
constexpr auto kKinds = std::to_array<std::string_view>({"digits", "shapes", "text"});

// A count of 0 stands for the default of the kind, which is known only after parsing.
struct MakeOptions {
  std::size_t kind = 0;
  MakeRequest request{.count = 0, .test_count = 0};
};

// Default sizes: large enough to train on, small enough to be drawn within seconds.
void fill_in(MakeRequest& request) {
  const bool text = request.kind == DrawnKind::text;
  if (request.count == 0) request.count = text ? 1'000'000 : 20'000;
  if (request.test_count == 0) request.test_count = text ? 100'000 : 4'000;
}

Result<Answer> make(const MakeOptions& options, World& world) {
  MakeRequest request = options.request;
  request.kind = static_cast<DrawnKind>(options.kind);
  fill_in(request);
  request.progress = [&](std::uint64_t done, std::uint64_t total) {
    return world.progress.report("generating", done, total);
  };
  const auto start = world.clock.now();
  // Drawing and writing are timed together.
  TRIBUTARY_ASSIGN(const MadeData made, make_data(request));
  const double seconds = std::chrono::duration<double>(world.clock.now() - start).count();
  Answer answer;
  answer.text = fmt::format(
      "{} {} for training and {} for testing, {} bytes in {}\n", count_text(request.count),
      request.kind == DrawnKind::text ? "characters" : "pictures", count_text(request.test_count),
      count_text(made.bytes), seconds_text(seconds));
  for (const std::string& file : made.files) answer.text += fmt::format("  {}\n", printable(file));
  Json data = {
      {"kind", kKinds[options.kind]}, {"count", request.count}, {"test_count", request.test_count},
      {"seed", request.seed},         {"bytes", made.bytes},    {"files", made.files}};
  if (request.kind == DrawnKind::text) {
    answer.text +=
        fmt::format("Entropy: {:.3f} bits per character, the lower bound for any model.\n",
                    made.bits_per_character);
    data["entropy_bits_per_character"] = made.bits_per_character;
  }
  answer.data = json_text(data);
  return answer;
}

}  // namespace

Command data_make_command() {
  const auto options = std::make_shared<MakeOptions>();
  MakeRequest& request = options->request;
  return {.noun = "data",
          .verb = "make",
          .summary = "generate a data set",
          .details =
              "  digits  28 x 28 grey, distorted strokes; written as the files of MNIST\n"
              "  shapes  32 x 32 colour, ten kinds; written as the files of CIFAR-10\n"
              "  text    sentences of a small grammar, for character models\n\n"
              "The same seed gives the same files on every machine.\n\n"
              "examples:\n"
              "  tributary data make digits --out digits\n"
              "  tributary data make shapes --out shapes --count 50k --test-count 10k --seed 7\n"
              "  tributary data make text --out text --count 10M --json",
          .options = {{.name = "KIND",
                       .value_name = "KIND",
                       .help = "kind of data: digits, shapes or text",
                       .accept = accept_choice(options->kind, kKinds),
                       .required = true},
                      {.name = "--out",
                       .value_name = "DIR",
                       .help = "folder to write; created if it does not exist",
                       .accept = accept_file(request.folder),
                       .required = true},
                      {.name = "--count",
                       .value_name = "N",
                       .help = "training pictures (20k) or characters (1M)",
                       .accept = accept_count<std::uint64_t>(request.count, 1, kDrawnTextMax)},
                      {.name = "--test-count",
                       .value_name = "N",
                       .help = "test pictures (4k) or characters (100k)",
                       .accept = accept_count<std::uint64_t>(request.test_count, 1, kDrawnTextMax)},
                      {.name = "--seed",
                       .value_name = "N",
                       .help = "seed of the data (0)",
                       .accept = accept_count<std::uint64_t>(request.seed, 0)}},
          .run = [options](World& world) { return make(*options, world); }};
}

}  // namespace tributary
