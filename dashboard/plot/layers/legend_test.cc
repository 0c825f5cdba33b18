// Tests of hiding and isolating curves in a legend.
#include "dashboard/plot/layers/legend.h"

#include <gtest/gtest.h>

#include <QSignalSpy>

namespace tributary::dashboard {
namespace {

class LegendTest : public testing::Test {
 protected:
  LegendTest() { legend_.list({{.key = "a"}, {.key = "b"}, {.key = "c"}}); }

  QString shown() const {
    QString all;
    for (const LegendEntry& entry : legend_.entries()) {
      if (legend_.shown(entry.key)) all += entry.key;
    }
    return all;
  }

  Legend legend_;
};

// Isolating the only visible entry shows all entries.
TEST_F(LegendTest, IsolatingTwiceBringsAllBack) {
  QSignalSpy changed(&legend_, &Legend::changed);
  legend_.isolate("b");
  EXPECT_EQ(shown(), "b");
  legend_.isolate("c");
  EXPECT_EQ(shown(), "c");
  legend_.isolate("c");
  EXPECT_EQ(shown(), "abc");
  EXPECT_EQ(changed.size(), 3);
}

TEST_F(LegendTest, ToggledEntriesAreHiddenOneByOne) {
  legend_.toggle("a");
  legend_.toggle("c");
  EXPECT_EQ(shown(), "b");
  legend_.isolate("b");
  EXPECT_EQ(shown(), "abc") << "it was alone already";
  legend_.toggle("a");
  legend_.toggle("a");
  EXPECT_EQ(shown(), "abc");
  legend_.toggle("a");
  legend_.show_all();
  EXPECT_EQ(shown(), "abc");
}

// A hidden key stays hidden even while no entry has it.
TEST_F(LegendTest, HiddenEntriesStayHiddenInANewList) {
  legend_.toggle("a");
  legend_.list({{.key = "b"}});
  EXPECT_EQ(shown(), "b");
  legend_.list({{.key = "a"}, {.key = "b"}});
  EXPECT_EQ(shown(), "b");
}

TEST_F(LegendTest, ValuesBelongToKeys) {
  legend_.set_value("b", "0.5");
  legend_.set_value("unknown", "1");
  EXPECT_EQ(legend_.value_of("a"), "");
  EXPECT_EQ(legend_.value_of("b"), "0.5");
  EXPECT_EQ(legend_.value_of("unknown"), "");
  legend_.clear_values();
  EXPECT_EQ(legend_.value_of("b"), "");
}

TEST_F(LegendTest, EntriesThatDoNotFitHaveNoPlace) {
  legend_.place({.entries = {{0, 0, 20, 10}, {20, 0, 20, 10}}, .more = {40, 0, 30, 10}});
  EXPECT_EQ(legend_.rect_of("b"), QRect(20, 0, 20, 10));
  EXPECT_TRUE(legend_.rect_of("c").isEmpty());
  EXPECT_TRUE(legend_.rect_of("unknown").isEmpty());
  ASSERT_NE(legend_.entry_at({25, 5}), nullptr);
  EXPECT_EQ(legend_.entry_at({25, 5})->key, "b");
  EXPECT_EQ(legend_.entry_at({45, 5}), nullptr) << "the note is no entry";
  EXPECT_EQ(legend_.left_out(), 1U);
  EXPECT_EQ(legend_.more_rect(), QRectF(40, 0, 30, 10));
  legend_.place({.entries = {{0, 0, 9, 9}, {9, 0, 9, 9}, {18, 0, 9, 9}}, .more = {}});
  EXPECT_EQ(legend_.left_out(), 0U);
  EXPECT_EQ(legend_.rect_of("c"), QRect(18, 0, 9, 9));
}

}  // namespace
}  // namespace tributary::dashboard
