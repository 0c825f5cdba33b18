// Tests of the bar that selects a round: showing a place must not select one.
#include "dashboard/pages/round/round_bar.h"

#include <gtest/gtest.h>

#include <QLabel>
#include <QPushButton>
#include <QSpinBox>
#include <QTest>

#include "dashboard/plot/plot_testing.h"

namespace tributary::dashboard {
namespace {

class RoundBarTest : public testing::Test {
 protected:
  QPushButton* button(const char* text) {
    for (QPushButton* one : bar_.findChildren<QPushButton*>()) {
      if (one->text().contains(text, Qt::CaseInsensitive)) return one;
    }
    ADD_FAILURE() << "no button " << text;
    return nullptr;
  }
  QSpinBox* number() { return bar_.findChild<QSpinBox*>(); }

  RoundBar bar_;
};

TEST_F(RoundBarTest, WithoutARoundNothingCanBeChosen) {
  bar_.show_place(std::nullopt, true);
  EXPECT_FALSE(number()->isEnabled());
  EXPECT_FALSE(button("Previous")->isEnabled());
  EXPECT_FALSE(button("Next")->isEnabled());
  EXPECT_FALSE(button("newest")->isEnabled());
}

TEST_F(RoundBarTest, AtAnEndOneDirectionIsDisabled) {
  bar_.show_place(RoundBar::Place{.first = 3, .last = 9, .round = 3}, false);
  EXPECT_FALSE(button("Previous")->isEnabled());
  EXPECT_TRUE(button("Next")->isEnabled());
  EXPECT_TRUE(button("newest")->isEnabled()) << "a round was chosen: there is a way back";
  EXPECT_EQ(number()->value(), 3);
  bar_.show_place(RoundBar::Place{.first = 3, .last = 9, .round = 9}, true);
  EXPECT_TRUE(button("Previous")->isEnabled());
  EXPECT_FALSE(button("Next")->isEnabled());
  EXPECT_FALSE(button("newest")->isEnabled());
}

TEST_F(RoundBarTest, ShowingAPlaceChoosesNone) {
  int chosen = 0;
  QObject::connect(&bar_, &RoundBar::round_chosen, [&](std::uint64_t) { ++chosen; });
  bar_.show_place(RoundBar::Place{.first = 1, .last = 9, .round = 5}, true);
  EXPECT_EQ(chosen, 0);
  number()->setValue(7);
  EXPECT_EQ(chosen, 1);
}

TEST_F(RoundBarTest, ButtonsAskForOtherRounds) {
  int steps = 0;
  bool newest = false;
  QObject::connect(&bar_, &RoundBar::step_requested, [&](int rounds) { steps += rounds; });
  QObject::connect(&bar_, &RoundBar::newest_requested, [&] { newest = true; });
  bar_.show_place(RoundBar::Place{.first = 1, .last = 9, .round = 5}, false);
  QTest::mouseClick(button("Next"), Qt::LeftButton);
  QTest::mouseClick(button("Next"), Qt::LeftButton);
  QTest::mouseClick(button("Previous"), Qt::LeftButton);
  EXPECT_EQ(steps, 1);
  QTest::mouseClick(button("newest"), Qt::LeftButton);
  EXPECT_TRUE(newest);
}

}  // namespace
}  // namespace tributary::dashboard
