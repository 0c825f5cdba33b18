// Tests of texts from files and networks before they are shown: nothing in them may move, hide or
// format anything.
#include "dashboard/tables/cells/shown_text.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "dashboard/tables/cells/tables_testing.h"

namespace tributary::dashboard {
namespace {

TEST(ShownText, HarmlessTextDoesNotChange) {
  EXPECT_EQ(shown_text("agent-1: 3 µs, “déjà”"), QString::fromUtf8("agent-1: 3 µs, “déjà”"));
}

TEST(ShownText, ControlCharactersShowAndMoveNothing) {
  EXPECT_EQ(shown_text("a\nb\tc\x7f"), QString::fromUtf8("a⏎b⇥c\xef\xbf\xbd"));
  EXPECT_EQ(shown_text(std::string_view("a\0b", 3)), QString::fromUtf8("a\xef\xbf\xbd"
                                                                       "b"));
  EXPECT_EQ(shown_text("\xe2\x80\xae"
                       "txt.exe"),
            QString::fromUtf8("\xef\xbf\xbd"
                              "txt.exe"));
}

TEST(ShownText, EveryHostileTextIsOneBoundedLine) {
  for (const std::string& text : tables_testing::hostile_texts()) {
    const QString shown = shown_text(text);
    EXPECT_LE(shown.size(), kShownCharactersMax);
    EXPECT_TRUE(std::all_of(shown.begin(), shown.end(), [](QChar c) {
      return c.unicode() >= 0x20 && c.unicode() != 0x7f && c.unicode() != 0x202e;
    }));
  }
}

TEST(ShownText, ALongOneEndsBetweenCharacters) {
  std::string faces;
  for (int i = 0; i < 1000; ++i) faces += "😀";
  for (const std::string& text : {faces, "x" + faces}) {
    const QString shown = shown_text(text);
    EXPECT_TRUE(shown.endsWith(QChar(0x2026)));
    EXPECT_FALSE(shown.at(shown.size() - 2).isHighSurrogate());
    EXPECT_LE(shown.size(), kShownCharactersMax);
  }
}

TEST(ShownText, ATipIsNeverLaidOutAsTheTextAsks) {
  const QString tip = tip_text("<img src=x> & more");
  EXPECT_FALSE(tip.contains("<img"));
  EXPECT_TRUE(tip.contains("&lt;img src=x&gt; &amp; more"));
  EXPECT_TRUE(tip_text({}).isEmpty());
}

TEST(CompareNaturally, CountsDigitsAsNumbers) {
  EXPECT_LT(compare_naturally("agent-2", "agent-10"), 0);
  EXPECT_GT(compare_naturally("agent-10a", "agent-10"), 0);
  EXPECT_LT(compare_naturally("a007", "a8"), 0);
  EXPECT_LT(compare_naturally("Alpha", "beta"), 0);
  EXPECT_EQ(compare_naturally("same", "same"), 0);
  EXPECT_LT(compare_naturally("", "a"), 0);
  EXPECT_LT(compare_naturally("7", "123456789012345678901234567890"), 0);
}

// A sort with this comparison must terminate and give one order, whatever the initial order was.
TEST(CompareNaturally, OrdersAnyTextsTheSameWay) {
  std::mt19937 random(8);
  std::vector<std::string> texts;
  constexpr std::string_view kLetters = "aAbB019 -";
  for (int i = 0; i < 400; ++i) {
    std::string text;
    for (std::size_t n = random() % 6; n > 0; --n) text += kLetters[random() % kLetters.size()];
    texts.push_back(text);
  }
  const auto less = [](const std::string& a, const std::string& b) {
    return compare_naturally(a, b) < 0;
  };
  std::vector<std::string> sorted = texts;
  std::ranges::sort(sorted, less);
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    for (std::size_t j = i + 1; j < sorted.size(); ++j) {
      ASSERT_LE(compare_naturally(sorted[i], sorted[j]), 0) << sorted[i] << " | " << sorted[j];
      ASSERT_EQ(compare_naturally(sorted[i], sorted[j]), -compare_naturally(sorted[j], sorted[i]));
    }
  }
  std::ranges::shuffle(texts, random);
  std::ranges::sort(texts, less);
  EXPECT_EQ(texts, sorted);
}

}  // namespace
}  // namespace tributary::dashboard
