// Tests of mouse and keyboard in a plot, without a view: events go to the canvas and keys to the
// input.
#include "dashboard/plot/input/plot_input.h"

#include <QKeyEvent>
#include <QMouseEvent>
#include <QSignalSpy>

#include "dashboard/plot/layers/scene.h"
#include "dashboard/plot/plot_axes.h"
#include "dashboard/plot/plot_canvas.h"
#include "dashboard/plot/plot_testing.h"

namespace tributary::dashboard {
namespace {

// Tests without a view: events go to the canvas, and keys to the input.
class PlotInputTest : public testing::Test {
 protected:
  PlotInputTest() {
    scene_.content.curves = {
        {.key = "a", .name = "a", .series = series_of_function(101, [](double x) { return x; })},
        {.key = "b", .name = "b", .series = series_of_function(11, [](double x) { return x; })}};
    scene_.legend.list(legend_entries(scene_.content, true));
    scene_.nothing = false;
    canvas_.resize(800, 400);
    canvas_.show();
    group_.x_axis().zoom_to({.x = Extent{0, 100}});
    update();
  }

  void update() {
    axes_.update();
    canvas_.paint_all();
  }
  QPoint at(double x, double y) { return axes_.pixel_of(x, y).toPoint(); }
  bool key(int which, Qt::KeyboardModifiers modifiers = {}) {
    return input_.key_pressed(QKeyEvent(QEvent::KeyPress, which, modifiers));
  }
  void mouse(QEvent::Type type, QPoint where, Qt::KeyboardModifiers modifiers = {}) {
    QMouseEvent event(type, where, canvas_.mapToGlobal(where), Qt::LeftButton, Qt::LeftButton,
                      modifiers);
    QApplication::sendEvent(&canvas_, &event);
  }

  Scene scene_;
  PlotCanvas canvas_{scene_, nullptr};
  PlotGroup group_;
  PlotAxes axes_{scene_, canvas_, group_.x_axis(), 1};
  PlotInput input_{canvas_, scene_, axes_, group_};
};

TEST_F(PlotInputTest, ADragShowsItsFrameAndZoomsAtItsEnd) {
  QSignalSpy frames(&input_, &PlotInput::frame_changed);
  mouse(QEvent::MouseButtonPress, at(20, 50));
  mouse(QEvent::MouseMove, at(60, 50));
  ASSERT_TRUE(scene_.frame.has_value());
  EXPECT_NEAR(scene_.frame->left(), at(20, 50).x(), 1);
  EXPECT_EQ(frames.size(), 1);
  EXPECT_EQ(axes_.x_range().low, 0);
  mouse(QEvent::MouseButtonRelease, at(60, 50));
  EXPECT_FALSE(scene_.frame.has_value());
  EXPECT_NEAR(axes_.x_range().low, 20, 0.3);
  EXPECT_NEAR(axes_.x_range().high, 60, 0.3);
}

// The release after Escape must not zoom.
TEST_F(PlotInputTest, EscapeEndsADragWithoutAZoom) {
  mouse(QEvent::MouseButtonPress, at(20, 50));
  mouse(QEvent::MouseMove, at(60, 50));
  EXPECT_TRUE(key(Qt::Key_Escape));
  EXPECT_FALSE(scene_.frame.has_value());
  EXPECT_FALSE(group_.crosshair().has_value());
  mouse(QEvent::MouseButtonRelease, at(60, 50));
  EXPECT_EQ(axes_.x_range().low, 0);
  EXPECT_FALSE(key(Qt::Key_Escape)) << "there is nothing more to end";
}

// A small movement between press and release is still a click.
TEST_F(PlotInputTest, AClickLocksAndReportsItsPlace) {
  QSignalSpy clicked(&input_, &PlotInput::x_clicked);
  QSignalSpy rows(&input_, &PlotInput::row_clicked);
  group_.x_axis().go_live();
  mouse(QEvent::MouseButtonPress, at(30, 50));
  mouse(QEvent::MouseButtonRelease, at(30, 50) + QPoint(2, 2));
  ASSERT_EQ(clicked.size(), 1);
  EXPECT_NEAR(clicked[0][0].toDouble(), 30, 0.5);
  EXPECT_EQ(rows.size(), 0);
  EXPECT_TRUE(group_.x_axis().locked());
}

TEST_F(PlotInputTest, ARowOfAGanttChartIsClicked) {
  scene_.content = {.rows = {{.name = "a"}, {.name = "b"}, {.name = "c"}}};
  update();
  QSignalSpy rows(&input_, &PlotInput::row_clicked);
  const QPoint middle = axes_.data_rect().center();
  mouse(QEvent::MouseButtonPress, middle);
  mouse(QEvent::MouseButtonRelease, middle);
  ASSERT_EQ(rows.size(), 1);
  EXPECT_EQ(rows[0][0].toInt(), 1);
}

// A click on a legend entry is not a click on the plot.
TEST_F(PlotInputTest, AClickOnTheLegendIsNoneOnThePicture) {
  QSignalSpy clicked(&input_, &PlotInput::x_clicked);
  const QPoint entry = scene_.legend.rect_of("b").center();
  mouse(QEvent::MouseButtonPress, entry);
  mouse(QEvent::MouseButtonRelease, entry);
  EXPECT_FALSE(scene_.shown("a"));
  EXPECT_EQ(clicked.size(), 0);
  mouse(QEvent::MouseButtonPress, entry);
  mouse(QEvent::MouseButtonRelease, entry, Qt::ControlModifier);
  EXPECT_FALSE(scene_.shown("b"));
}

// Steps follow the samples of the first visible curve and end at its last sample.
TEST_F(PlotInputTest, TheCrosshairStepsOverSamplesOfTheFirstCurveShown) {
  scene_.legend.toggle("a");
  group_.point_at(4);
  EXPECT_TRUE(key(Qt::Key_BracketRight));
  EXPECT_EQ(group_.crosshair(), 5);
  for (int i = 0; i < 9; ++i) key(Qt::Key_BracketRight);
  EXPECT_EQ(group_.crosshair(), 10) << "the last sample of the curve";
}

TEST_F(PlotInputTest, KeysZoomAboutTheCrosshair) {
  group_.point_at(20);
  const double pixel = axes_.pixel_of(20, 0).x();
  EXPECT_TRUE(key(Qt::Key_Plus));
  update();
  EXPECT_NEAR(axes_.x_range().high - axes_.x_range().low, 70, 1e-6);
  EXPECT_NEAR(axes_.pixel_of(20, 0).x(), pixel, 0.5);
}

// The widget's parent receives keys without a meaning here.
TEST_F(PlotInputTest, AKeyWithoutAMeaningIsLeftToOthers) {
  for (const int none : {Qt::Key_Z, Qt::Key_Y, Qt::Key_A, Qt::Key_9, Qt::Key_Return}) {
    EXPECT_FALSE(key(none)) << none;
  }
  QSignalSpy help(&input_, &PlotInput::help_requested);
  EXPECT_TRUE(key(Qt::Key_Question, Qt::ShiftModifier));
  EXPECT_EQ(help.size(), 1);
}

}  // namespace
}  // namespace tributary::dashboard
