// Tests of zooming and panning the axes of a plot.
#include "dashboard/plot/plot_axes.h"

#include <QSignalSpy>

#include "dashboard/plot/layers/scene.h"
#include "dashboard/plot/plot_canvas.h"
#include "dashboard/plot/plot_testing.h"

namespace tributary::dashboard {
namespace {

constexpr std::uint64_t kView = 3;

class PlotAxesTest : public testing::Test {
 protected:
  PlotAxesTest() {
    scene_.content.curves = {
        {.key = "a", .series = series_of_function(101, [](double x) { return x - 20; })}};
    scene_.nothing = false;
    canvas_.resize(800, 400);
    canvas_.show();
    update();
  }

  void update() {
    shared_.follow();
    axes_.update();
    canvas_.paint_all();
  }
  QPointF middle() { return QRectF(axes_.data_rect()).center(); }

  Scene scene_;
  PlotCanvas canvas_{scene_, nullptr};
  SharedXAxis shared_{[this] { return x_extent(scene_.content); }};
  PlotAxes axes_{scene_, canvas_, shared_, kView};
};

TEST_F(PlotAxesTest, PixelsAndValuesGoThereAndBack) {
  const QPointF pixel = axes_.pixel_of(30, 10);
  EXPECT_NEAR(axes_.x_at(pixel.x()), 30, 1e-9);
  EXPECT_TRUE(axes_.data_rect().contains(pixel.toPoint()));
  EXPECT_LT(axes_.pixel_of(30, 20).y(), pixel.y()) << "more is higher";
}

TEST_F(PlotAxesTest, YFitsVisibleSamplesUntilItIsZoomed) {
  axes_.zoom_to({40, 60}, std::nullopt);
  update();
  EXPECT_NEAR(axes_.y_range().low, 19, 1);
  EXPECT_NEAR(axes_.y_range().high, 41, 1);
  axes_.zoom_to({0, 100}, Extent{-5, 5});
  update();
  EXPECT_EQ(axes_.y_range().high, 5);
  EXPECT_EQ(shared_.zoom().y.at(kView).low, -5);
  scene_.legend.toggle("a");
  update();
  EXPECT_EQ(axes_.y_range().high, 5);
}

TEST_F(PlotAxesTest, AZoomKeepsTheValueThatItIsAbout) {
  const QPointF pixel = axes_.pixel_of(25, 0);
  axes_.zoom_about(pixel, 0.5, true, true);
  update();
  EXPECT_NEAR(axes_.pixel_of(25, 0).x(), pixel.x(), 0.5);
  EXPECT_NEAR(axes_.pixel_of(25, 0).y(), pixel.y(), 0.5);
  EXPECT_NEAR(axes_.x_range().high - axes_.x_range().low, 50, 1e-9);
}

// A pan by half the range is a constant factor on a log axis.
TEST_F(PlotAxesTest, PanningOnALogAxisKeepsTheFactor) {
  axes_.set_log_x(true);
  update();
  ASSERT_TRUE(axes_.log_x());
  axes_.pan(0.5, 0);
  EXPECT_NEAR(axes_.x_range().low, 10, 1e-9);
  EXPECT_NEAR(axes_.x_range().high, 1000, 1e-6);
}

TEST_F(PlotAxesTest, ZoomsOfOneGestureAreOneStep) {
  for (int i = 0; i < 4; ++i) axes_.zoom_about(middle(), 0.8, true, false, 9);
  axes_.pan(0.1, 0, 10);
  EXPECT_TRUE(shared_.undo());
  EXPECT_NEAR(axes_.x_range().high - axes_.x_range().low, 100 * std::pow(0.8, 4), 1e-6);
  EXPECT_TRUE(shared_.undo());
  EXPECT_EQ(axes_.x_range().high, 100);
}

TEST_F(PlotAxesTest, AFrameZoomsTheAxesThatItNames) {
  const QRectF rect(axes_.pixel_of(20, 40), axes_.pixel_of(60, 10));
  axes_.zoom_to_frame({.rect = rect, .x = true, .y = false});
  EXPECT_NEAR(axes_.x_range().low, 20, 1e-6);
  EXPECT_TRUE(shared_.zoom().y.empty());
  shared_.fit();
  axes_.zoom_to_frame({.rect = rect, .x = false, .y = true});
  EXPECT_EQ(axes_.x_range().high, 100);
  EXPECT_NEAR(shared_.zoom().y.at(kView).high, 40, 1e-6);
  shared_.fit();
  axes_.zoom_to_frame({.rect = {}, .x = true, .y = true});
  EXPECT_FALSE(shared_.zoom().x.has_value());
}

TEST_F(PlotAxesTest, RowsAreNeitherZoomedNorLogarithmic) {
  scene_.content = {.rows = {{.name = "a", .spans = {{0, 2, "wire"}}}, {.name = "b"}}};
  update();
  EXPECT_EQ(axes_.y_range().high, 2);
  QSignalSpy changed(&axes_, &PlotAxes::log_y_changed);
  axes_.set_log_y(true);
  axes_.zoom_about(middle(), 0.5, true, true);
  axes_.pan(0, 0.5);
  update();
  EXPECT_FALSE(axes_.log_y());
  EXPECT_EQ(changed.size(), 0);
  EXPECT_EQ(axes_.y_range().high, 2);
  EXPECT_TRUE(shared_.zoom().y.empty());
}

// Wall time stays linear, even if another view of the group is logarithmic.
TEST_F(PlotAxesTest, TimesOfACalendarHaveNoLogarithm) {
  scene_.options.x = {"Time", Unit::wall_time};
  axes_.set_log_x(true);
  EXPECT_FALSE(shared_.is_log());
  shared_.set_log(true);
  update();
  EXPECT_FALSE(axes_.log_x()) << "another view of the group may have it";
}

// The zoom is kept, and applies again on a linear axis.
TEST_F(PlotAxesTest, AZoomToZeroAndBelowIsNotForALogAxis) {
  axes_.zoom_to({0, 100}, Extent{-5, 5});
  QSignalSpy changed(&axes_, &PlotAxes::log_y_changed);
  axes_.set_log_y(true);
  axes_.set_log_y(true);
  EXPECT_EQ(changed.size(), 1);
  update();
  EXPECT_GT(axes_.y_range().low, 0);
  axes_.set_log_y(false);
  update();
  EXPECT_EQ(axes_.y_range().low, -5);
}

}  // namespace
}  // namespace tributary::dashboard
