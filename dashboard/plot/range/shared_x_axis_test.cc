// Tests of the x axis that several plots share: following new data, pausing, zooming.
#include "dashboard/plot/range/shared_x_axis.h"

#include <gtest/gtest.h>

#include <QSignalSpy>
#include <cmath>
#include <limits>

namespace tributary::dashboard {
namespace {

// Data from 0 to 100, which a test may extend. The axis has followed them once.
class SharedXAxisTest : public testing::Test {
 protected:
  SharedXAxisTest() { axis_.follow(); }

  void expect_range(double low, double high) {
    EXPECT_DOUBLE_EQ(axis_.range().low, low);
    EXPECT_DOUBLE_EQ(axis_.range().high, high);
  }

  std::optional<Extent> data_ = Extent{0, 100};
  SharedXAxis axis_{[this] { return data_; }};
};

// A range of 0 to 1 is valid, so that plots can be drawn before the first sample.
TEST_F(SharedXAxisTest, WithoutDataTheRangeDoesNotChange) {
  SharedXAxis empty([] { return std::nullopt; });
  empty.follow();
  EXPECT_EQ(empty.range().low, 0);
  EXPECT_EQ(empty.range().high, 1);
  empty.fit();
  EXPECT_EQ(empty.range().high, 1);
}

// A signal is a repaint of every plot, so there is none without a change.
TEST_F(SharedXAxisTest, FollowsDataWhileLive) {
  QSignalSpy changed(&axis_, &SharedXAxis::changed);
  axis_.follow();
  EXPECT_EQ(changed.size(), 0) << "the data are the same";
  data_ = Extent{0, 150};
  expect_range(0, 100);
  axis_.follow();
  expect_range(0, 150);
  EXPECT_EQ(changed.size(), 1);
}

// Otherwise a user who paused too early would see an empty plot.
TEST_F(SharedXAxisTest, FirstDataAreShownAlsoWhereItIsNotLive) {
  std::optional<Extent> data;
  SharedXAxis axis([&] { return data; });
  axis.lock();
  axis.follow();
  data = Extent{10, 20};
  axis.follow();
  EXPECT_EQ(axis.range().low, 10);
  data = Extent{10, 30};
  axis.follow();
  EXPECT_EQ(axis.range().high, 20);
}

// Live mode would move the range away from the place that the user has chosen.
TEST_F(SharedXAxisTest, AZoomHoldsTheRangeAndLocks) {
  QSignalSpy live(&axis_, &SharedXAxis::live_changed);
  axis_.zoom_to({.x = Extent{20, 60}});
  EXPECT_TRUE(axis_.locked());
  ASSERT_EQ(live.size(), 1);
  EXPECT_FALSE(live[0][0].toBool());
  data_ = Extent{0, 150};
  axis_.follow();
  expect_range(20, 60);
  axis_.go_live();
  expect_range(0, 150);
  EXPECT_TRUE(axis_.live());
  EXPECT_TRUE(axis_.undo()) << "going live is a step that can be taken back";
  expect_range(20, 60);
}

// Two zooms and a fit are three steps.
TEST_F(SharedXAxisTest, UndoAndRedoGoThroughTheZooms) {
  axis_.zoom_to({.x = Extent{20, 60}});
  axis_.zoom_to({.x = Extent{30, 50}});
  axis_.fit();
  expect_range(0, 100);
  EXPECT_TRUE(axis_.undo());
  expect_range(30, 50);
  EXPECT_TRUE(axis_.undo());
  EXPECT_TRUE(axis_.undo());
  expect_range(0, 100);
  EXPECT_FALSE(axis_.undo());
  EXPECT_TRUE(axis_.redo());
  expect_range(20, 60);
}

// The number 7 identifies the gesture: five moves of one drag.
TEST_F(SharedXAxisTest, AGestureIsOneStep) {
  for (int i = 1; i <= 5; ++i) axis_.zoom_to({.x = Extent{10.0 * i, 90}}, 7);
  expect_range(50, 90);
  axis_.undo();
  expect_range(0, 100);
}

// Empty, reversed and not finite. Such a range in y cancels the whole zoom.
TEST_F(SharedXAxisTest, ARangeThatIsNoneIsIgnored) {
  const double nan = std::nan("");
  const double infinity = std::numeric_limits<double>::infinity();
  for (const Extent bad : {Extent{5, 5}, Extent{6, 5}, Extent{nan, 5}, Extent{0, infinity}}) {
    axis_.zoom_to({.x = bad});
    axis_.zoom_to({.x = Extent{1, 2}, .y = {{1, bad}}});
  }
  expect_range(0, 100);
  EXPECT_FALSE(axis_.undo());
  EXPECT_TRUE(axis_.live());
}

// Plot 1 has its own y range; the shared x range stays.
TEST_F(SharedXAxisTest, AZoomOfAYRangeAloneIsAChange) {
  QSignalSpy changed(&axis_, &SharedXAxis::changed);
  axis_.zoom_to({.y = {{1, {2, 3}}}});
  EXPECT_EQ(changed.size(), 1);
  EXPECT_EQ(axis_.zoom().y.at(1).high, 3);
  expect_range(0, 100);
}

// Hovering ends with the pointer's leave; a lock lasts until the user goes live.
TEST_F(SharedXAxisTest, HoveringPausesAndLockingHolds) {
  QSignalSpy live(&axis_, &SharedXAxis::live_changed);
  axis_.hover(true);
  EXPECT_FALSE(axis_.live());
  EXPECT_FALSE(axis_.locked());
  data_ = Extent{0, 150};
  axis_.follow();
  expect_range(0, 100);
  axis_.hover(false);
  EXPECT_TRUE(axis_.live());
  EXPECT_EQ(live.size(), 2);
  axis_.lock();
  axis_.lock();
  axis_.hover(true);
  axis_.hover(false);
  EXPECT_FALSE(axis_.live());
  EXPECT_EQ(live.size(), 3) << "one change, however often it is locked";
}

// A width of 0 shows everything.
TEST_F(SharedXAxisTest, LiveWidthShowsTheNewestPart) {
  axis_.set_live_width(30);
  expect_range(70, 100);
  data_ = Extent{0, 200};
  axis_.follow();
  expect_range(170, 200);
  axis_.set_live_width(0);
  expect_range(0, 200);
}

// At round 1, or three decades below the end if the data end before it.
TEST_F(SharedXAxisTest, ALogAxisBeginsAboveZero) {
  QSignalSpy log(&axis_, &SharedXAxis::log_changed);
  axis_.set_log(true);
  axis_.set_log(true);
  EXPECT_EQ(log.size(), 1);
  expect_range(1, 100);
  data_ = Extent{0, 0.5};
  axis_.follow();
  expect_range(0.0005, 0.5);
}

// A range below 0 has no logarithm. The zoom stays in the history.
TEST_F(SharedXAxisTest, AZoomThatALogAxisCannotShowIsLeft) {
  axis_.zoom_to({.x = Extent{-10, 50}});
  axis_.set_log(true);
  expect_range(1, 100);
  axis_.set_log(false);
  axis_.undo();
  expect_range(-10, 50);
}

// A single sample has no extent: half a unit on each side, or a factor of 2 on a logarithmic axis.
TEST_F(SharedXAxisTest, OneMomentHasARangeAroundIt) {
  data_ = Extent{8, 8};
  axis_.follow();
  expect_range(7.5, 8.5);
  axis_.set_log(true);
  expect_range(4, 16);
}

}  // namespace
}  // namespace tributary::dashboard
