// Tests of undoing and redoing zooms.
#include "dashboard/plot/range/zoom_history.h"

#include <gtest/gtest.h>

namespace tributary::dashboard {
namespace {

ZoomState zoom_at(double low) { return {.x = Extent{low, low + 1}}; }

TEST(ZoomHistory, UndoesAndRedoes) {
  ZoomHistory history;
  EXPECT_FALSE(history.undo());
  history.push(zoom_at(1));
  history.push(zoom_at(2));
  EXPECT_TRUE(history.undo());
  EXPECT_EQ(history.current().x->low, 1);
  EXPECT_TRUE(history.redo());
  EXPECT_EQ(history.current().x->low, 2);
  EXPECT_FALSE(history.redo());
  EXPECT_TRUE(history.undo());
  EXPECT_TRUE(history.undo());
  EXPECT_FALSE(history.current().x.has_value());
}

TEST(ZoomHistory, ANewZoomForgetsUndoneZooms) {
  ZoomHistory history;
  history.push(zoom_at(1));
  history.undo();
  history.push(zoom_at(2));
  EXPECT_FALSE(history.can_redo());
  EXPECT_TRUE(history.undo());
  EXPECT_FALSE(history.can_undo());
}

TEST(ZoomHistory, OneGestureIsOneStep) {
  ZoomHistory history;
  history.push(zoom_at(1), 7);
  history.push(zoom_at(2), 7);
  history.push(zoom_at(3), 7);
  EXPECT_EQ(history.current().x->low, 3);
  history.undo();
  EXPECT_FALSE(history.current().x.has_value());
  // A step after an undo is a new gesture, even with the same number.
  history.push(zoom_at(4), 7);
  history.undo();
  EXPECT_FALSE(history.current().x.has_value());
}

TEST(ZoomHistory, TheSameAgainIsNoStep) {
  ZoomHistory history;
  history.push({});
  EXPECT_FALSE(history.can_undo());
  ZoomState state = zoom_at(1);
  state.y[3] = {0, 1};
  history.push(state);
  history.push(state);
  history.undo();
  EXPECT_FALSE(history.can_undo());
}

TEST(ZoomHistory, IsBounded) {
  ZoomHistory history;
  const int pushed = 3 * static_cast<int>(ZoomHistory::kStepsMax);
  for (int i = 0; i < pushed; ++i) history.push(zoom_at(i));
  EXPECT_EQ(history.current().x->low, pushed - 1);
  std::size_t undone = 0;
  while (history.undo()) ++undone;
  EXPECT_EQ(undone, ZoomHistory::kStepsMax - 1);
}

}  // namespace
}  // namespace tributary::dashboard
