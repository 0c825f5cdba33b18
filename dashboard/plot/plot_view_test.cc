// Tests the actions of a user on a plot with the mouse and the keyboard.
#include "dashboard/plot/plot_view.h"

#include <QSignalSpy>
#include <QToolButton>
#include <QWheelEvent>

#include "dashboard/plot/plot_testing.h"

namespace tributary::dashboard {
namespace {

// Two views of one group with 101 samples each, at x = 0 to 100. The loss falls from 2, the
// accuracy rises to 1. Sizes are fixed, so that pixels can be computed.
class PlotViewTest : public testing::Test {
 protected:
  PlotViewTest() {
    loss_ = series_of_function(101, [](double x) { return 2 * std::exp(-x / 30); });
    accuracy_ = series_of_function(101, [](double x) { return x / 100; });
    view_.set_curves({{.key = "loss", .name = "loss", .series = loss_},
                      {.key = "accuracy", .name = "accuracy", .series = accuracy_}});
    below_.set_curves({{.key = "loss", .name = "loss", .series = loss_}});
    for (PlotView* view : {&view_, &below_}) {
      view->setPalette(palette_for_tests(false));
      view->resize(800, 400);
      view->show();
    }
    group_.refresh_now();
  }

  QWidget* canvas(PlotView& view) { return view.childAt(view.axes().data_rect().center()); }
  QPoint at(double x, double y) { return view_.axes().pixel_of(x, y).toPoint(); }
  // Two moves, because a plot takes a press without movement for a click.
  void drag(QPoint from, QPoint to, Qt::KeyboardModifiers modifiers = {}) {
    QTest::mousePress(canvas(view_), Qt::LeftButton, modifiers, from);
    QTest::mouseMove(canvas(view_), (from + to) / 2);
    QTest::mouseMove(canvas(view_), to);
    QTest::mouseRelease(canvas(view_), Qt::LeftButton, modifiers, to);
    group_.refresh_now();
  }
  void wheel(QPoint pixel, int delta, Qt::KeyboardModifiers modifiers = {}) {
    QWheelEvent event(pixel, view_.mapToGlobal(pixel), {}, {0, delta}, Qt::NoButton, modifiers,
                      Qt::NoScrollPhase, false);
    QApplication::sendEvent(canvas(view_), &event);
    group_.refresh_now();
  }
  void key(int which, Qt::KeyboardModifiers modifiers = {}) {
    QTest::keyClick(&view_, static_cast<Qt::Key>(which), modifiers);
    group_.refresh_now();
  }
  void click_legend(const QString& name, Qt::KeyboardModifiers modifiers = {}) {
    QTest::mouseClick(canvas(view_), Qt::LeftButton, modifiers,
                      view_.legend().rect_of(name).center());
    group_.refresh_now();
  }
  // The range that shows all samples.
  void expect_all() {
    EXPECT_DOUBLE_EQ(view_.axes().x_range().low, 0);
    EXPECT_DOUBLE_EQ(view_.axes().x_range().high, 100);
  }

  std::shared_ptr<Series> loss_;
  std::shared_ptr<Series> accuracy_;
  PlotGroup group_;
  PlotView view_{{.title = "Learning", .y = {"Value", Unit::one}}, &group_};
  PlotView below_{{.title = "Loss", .y = {"Loss", Unit::one}}, &group_};
};

// Values that differ only by rounding are shown as equal.
TEST_F(PlotViewTest, RoundingErrorsAreNotMagnified) {
  auto flat = std::make_shared<Series>(10);
  flat->append({0, 0.098});
  flat->append({1, 0.098 * (1 + 1e-15)});
  view_.set_curves({{.key = "flat", .name = "flat", .series = flat}});
  group_.refresh_now();
  EXPECT_LT(view_.axes().y_range().low, 0.097);
  EXPECT_GT(view_.axes().y_range().high, 0.099);
}

// The y range has a margin, so that no curve touches the frame.
TEST_F(PlotViewTest, ShowsAllThereIs) {
  expect_all();
  EXPECT_LT(view_.axes().y_range().low, 0);
  EXPECT_GT(view_.axes().y_range().high, 2);
  const QImage picture = view_.grab().toImage();
  EXPECT_TRUE(has_colour(picture, slot_colour(0, false)));
  EXPECT_TRUE(has_colour(picture, slot_colour(1, false)));
}

// Tolerances are about two pixels of an 800 by 400 view.
TEST_F(PlotViewTest, ADragZoomsItsRectangleAndTheRangeOfTheGroup) {
  drag(at(20, 1.5), at(60, 0.5));
  EXPECT_NEAR(view_.axes().x_range().low, 20, 0.3);
  EXPECT_NEAR(view_.axes().x_range().high, 60, 0.3);
  EXPECT_NEAR(view_.axes().y_range().low, 0.5, 0.02);
  EXPECT_NEAR(view_.axes().y_range().high, 1.5, 0.02);
  EXPECT_EQ(below_.axes().x_range().low, view_.axes().x_range().low);
  // The y range is the view's own and fits the visible content.
  EXPECT_NEAR(below_.axes().y_range().high, 2 * std::exp(-20 / 30.0), 0.1);
}

// A drag without height selects only a range of x.
TEST_F(PlotViewTest, ADragAlongXKeepsYFitted) {
  drag(at(20, 1), at(60, 1));
  EXPECT_NEAR(view_.axes().x_range().low, 20, 0.3);
  EXPECT_GT(view_.axes().y_range().high, 2 * std::exp(-20 / 30.0));
  EXPECT_TRUE(group_.x_axis().zoom().y.empty());
}

// A quarter of the width is 10 of the 40 rounds in sight. All mouse moves of one drag are one undo
// step.
TEST_F(PlotViewTest, AShiftDragPansAndIsOneStep) {
  group_.x_axis().zoom_to({.x = Extent{20, 60}});
  group_.refresh_now();
  const QPoint middle = view_.axes().data_rect().center();
  drag(middle, middle + QPoint(view_.axes().data_rect().width() / 4, 0), Qt::ShiftModifier);
  EXPECT_NEAR(view_.axes().x_range().low, 10, 0.3);
  EXPECT_NEAR(view_.axes().x_range().high, 50, 0.3);
  view_.group().x_axis().undo();
  EXPECT_EQ(view_.axes().x_range().low, 20);
}

// One turn zooms by 0.8; the value under the pointer stays under it. With Ctrl, the wheel zooms the
// y axis.
TEST_F(PlotViewTest, TheWheelZoomsAboutThePointer) {
  const QPoint pointer = at(25, 1);
  wheel(pointer, 120);
  const Extent closer = view_.axes().x_range();
  EXPECT_NEAR(closer.high - closer.low, 80, 0.5);
  EXPECT_NEAR(at(25, 1).x(), pointer.x(), 1);
  wheel(pointer, -120);
  EXPECT_NEAR(view_.axes().x_range().high - view_.axes().x_range().low, 100, 0.5);
  const Extent y = view_.axes().y_range();
  wheel(pointer, 120, Qt::ControlModifier);
  EXPECT_NEAR(view_.axes().y_range().high - view_.axes().y_range().low, 0.8 * (y.high - y.low),
              1e-6);
}

// Turns at one position are one undo step; a turn at another position is a new one.
TEST_F(PlotViewTest, TurnsOfTheWheelAtOnePlaceAreOneStepBack) {
  const QPoint pointer = view_.axes().data_rect().center();
  for (int i = 0; i < 5; ++i) wheel(pointer, 120);
  wheel(pointer + QPoint(60, 0), 120);
  key(Qt::Key_Backspace);
  EXPECT_NEAR(view_.axes().x_range().high - view_.axes().x_range().low, 100 * std::pow(0.8, 5),
              0.5);
  key(Qt::Key_Backspace);
  expect_all();
}

// Backspace and Ctrl+Z undo; Ctrl+Shift+Z and Ctrl+Y redo, as in other programs.
TEST_F(PlotViewTest, UndoAndRedoByEveryKey) {
  drag(at(20, 1), at(60, 1));
  const Extent zoomed = view_.axes().x_range();
  key(Qt::Key_Z, Qt::ControlModifier);
  expect_all();
  key(Qt::Key_Z, Qt::ControlModifier | Qt::ShiftModifier);
  EXPECT_EQ(view_.axes().x_range().low, zoomed.low);
  key(Qt::Key_Backspace);
  expect_all();
  key(Qt::Key_Y, Qt::ControlModifier);
  EXPECT_EQ(view_.axes().x_range().low, zoomed.low);
}

// Fitting is itself a step that can be undone.
TEST_F(PlotViewTest, DoubleClickAndHomeFit) {
  drag(at(20, 1.5), at(60, 0.5));
  QTest::mouseDClick(canvas(view_), Qt::LeftButton, {}, view_.axes().data_rect().center());
  group_.refresh_now();
  expect_all();
  key(Qt::Key_Backspace);
  EXPECT_NEAR(view_.axes().x_range().low, 20, 0.3);
  key(Qt::Key_Home);
  expect_all();
  EXPECT_GT(view_.axes().y_range().high, 2);
}

// A key pans by a tenth of the range and zooms by 0.7.
TEST_F(PlotViewTest, ArrowsPanAndSignsZoom) {
  key(Qt::Key_Right);
  EXPECT_NEAR(view_.axes().x_range().low, 10, 1e-9);
  key(Qt::Key_Left);
  EXPECT_NEAR(view_.axes().x_range().low, 0, 1e-9);
  const Extent y = view_.axes().y_range();
  key(Qt::Key_Up);
  EXPECT_GT(view_.axes().y_range().low, y.low);
  key(Qt::Key_Down);
  EXPECT_NEAR(view_.axes().y_range().low, y.low, 1e-9);
  key(Qt::Key_Plus);
  EXPECT_NEAR(view_.axes().x_range().high - view_.axes().x_range().low, 70, 0.5);
  key(Qt::Key_Minus);
  EXPECT_NEAR(view_.axes().x_range().high - view_.axes().x_range().low, 100, 0.5);
}

// A click isolates a curve and a second one brings all back; Ctrl+click toggles one curve. The y
// axis fits the visible curves.
TEST_F(PlotViewTest, TheLegendIsolatesTogglesAndBringsBack) {
  click_legend("accuracy");
  EXPECT_FALSE(view_.legend().shown("loss"));
  EXPECT_TRUE(view_.legend().shown("accuracy"));
  EXPECT_LT(view_.axes().y_range().high, 1.2);  // fits the remaining curve
  const auto in_sight = [&] { return view_.grab().toImage().copy(view_.axes().data_rect()); };
  EXPECT_FALSE(has_colour(in_sight(), slot_colour(0, false), 50));
  click_legend("accuracy");
  EXPECT_TRUE(view_.legend().shown("loss"));
  EXPECT_TRUE(has_colour(in_sight(), slot_colour(0, false), 50));
  click_legend("loss", Qt::ControlModifier);
  EXPECT_FALSE(view_.legend().shown("loss"));
  click_legend("loss", Qt::ControlModifier);
  EXPECT_TRUE(view_.legend().shown("loss"));
}

// The digit is the position in the legend; 0 shows all.
TEST_F(PlotViewTest, DigitsActLikeTheLegend) {
  key(Qt::Key_2);
  EXPECT_FALSE(view_.legend().shown("loss"));
  key(Qt::Key_0);
  EXPECT_TRUE(view_.legend().shown("loss"));
  key(Qt::Key_1, Qt::ControlModifier);
  EXPECT_FALSE(view_.legend().shown("loss"));
  EXPECT_TRUE(view_.legend().shown("accuracy"));
}

// Views of a group show the values at the same x. Without a pointer, the legend shows the last
// values.
TEST_F(PlotViewTest, TheCrosshairIsThatOfTheGroup) {
  QTest::mouseMove(canvas(view_), at(40, 1));
  group_.refresh_now();
  ASSERT_TRUE(group_.crosshair().has_value());
  EXPECT_NEAR(*group_.crosshair(), 40, 0.3);
  const auto here = view_.crosshair_values();
  const auto there = below_.crosshair_values();
  ASSERT_EQ(here.size(), 2U);
  ASSERT_EQ(there.size(), 1U);
  EXPECT_DOUBLE_EQ(here[0].sample.y, 2 * std::exp(-40 / 30.0));
  EXPECT_EQ(there[0].sample.x, here[0].sample.x);
  EXPECT_EQ(view_.legend().value_of("accuracy").toStdString(), "0.4");
  QEvent leave(QEvent::Leave);
  QApplication::sendEvent(canvas(view_), &leave);
  group_.refresh_now();
  EXPECT_TRUE(below_.crosshair_values().empty());
  EXPECT_EQ(view_.legend().value_of("accuracy").toStdString(), "1");  // the last value again
}

// Moving the crosshair repaints only its layer.
TEST_F(PlotViewTest, TheCrosshairAloneRepaintsNoCurve) {
  const auto before = view_.paints();
  QTest::mouseMove(canvas(view_), at(40, 1));
  group_.refresh_now();
  EXPECT_EQ(view_.paints(), before);
}

// Samples are at whole numbers, so the crosshair stops at them.
TEST_F(PlotViewTest, TheCrosshairStepsByKey) {
  key(Qt::Key_BracketRight);
  ASSERT_TRUE(group_.crosshair().has_value());
  const double first = *group_.crosshair();
  EXPECT_EQ(first, std::round(first));
  key(Qt::Key_BracketRight);
  EXPECT_EQ(*group_.crosshair(), first + 1);
  key(Qt::Key_BracketLeft);
  EXPECT_EQ(*group_.crosshair(), first);
  QSignalSpy clicked(&view_, &PlotView::x_clicked);
  key(Qt::Key_Return);
  ASSERT_EQ(clicked.size(), 1);
  EXPECT_EQ(clicked[0][0].toDouble(), first);
  key(Qt::Key_Escape);
  EXPECT_FALSE(group_.crosshair().has_value());
}

// Pages open the round at this position.
TEST_F(PlotViewTest, AClickReportsItsPlace) {
  QSignalSpy clicked(&view_, &PlotView::x_clicked);
  QTest::mouseClick(canvas(view_), Qt::LeftButton, {}, at(30, 1));
  ASSERT_EQ(clicked.size(), 1);
  EXPECT_NEAR(clicked[0][0].toDouble(), 30, 0.3);
}

// Without a width, live mode shows everything; with one, the newest part of this width.
TEST_F(PlotViewTest, LiveFollowsNewSamples) {
  EXPECT_TRUE(group_.x_axis().live());
  loss_->append({150, 0.1});
  group_.refresh_now();
  EXPECT_EQ(view_.axes().x_range().high, 150);
  group_.x_axis().set_live_width(50);
  group_.refresh_now();
  EXPECT_EQ(view_.axes().x_range().low, 100);
}

// A plot that moved under the pointer could not be read.
TEST_F(PlotViewTest, PointingPausesAsLongAsThePointerStays) {
  QEnterEvent enter({10, 10}, {10, 10}, {10, 10});
  QApplication::sendEvent(canvas(view_), &enter);
  EXPECT_FALSE(group_.x_axis().live());
  loss_->append({150, 0.1});
  group_.refresh_now();
  EXPECT_EQ(view_.axes().x_range().high, 100);
  QEvent leave(QEvent::Leave);
  QApplication::sendEvent(canvas(view_), &leave);
  group_.refresh_now();
  EXPECT_EQ(view_.axes().x_range().high, 150);
}

// After a click the plot stays paused without the pointer, and the badge says so.
TEST_F(PlotViewTest, AClickHoldsAndTheBadgeLeadsBack) {
  auto* badge = view_.findChild<QToolButton*>("live");
  ASSERT_TRUE(badge && badge->isVisible());
  EXPECT_TRUE(badge->text().contains("Live"));
  QTest::mouseClick(canvas(view_), Qt::LeftButton, {}, at(30, 1));
  QEvent leave(QEvent::Leave);
  QApplication::sendEvent(canvas(view_), &leave);
  EXPECT_TRUE(group_.x_axis().locked());
  EXPECT_TRUE(badge->text().contains("Paused"));
  loss_->append({150, 0.1});
  group_.refresh_now();
  EXPECT_EQ(view_.axes().x_range().high, 100);
  QTest::mouseClick(badge, Qt::LeftButton);
  group_.refresh_now();
  EXPECT_TRUE(group_.x_axis().live());
  EXPECT_EQ(view_.axes().x_range().high, 150);
}

// A zoom ends live mode, and there must be a key back to it.
TEST_F(PlotViewTest, EndAndSpaceLeadBackToLiveFromAZoom) {
  for (const int which : {Qt::Key_End, Qt::Key_Space}) {
    drag(at(20, 1), at(60, 1));
    EXPECT_FALSE(group_.x_axis().live());
    key(which);
    EXPECT_TRUE(group_.x_axis().live());
    expect_all();
  }
}

// Nothing new will arrive, so there is no live mode.
TEST_F(PlotViewTest, ARunThatHasEndedHasNoBadge) {
  group_.x_axis().set_following(false);
  EXPECT_FALSE(view_.findChild<QToolButton*>("live")->isVisible());
}

// The y axis belongs to its view, the x axis to the group. A sample at 0 is not shown, so the
// ranges stay above 0.
TEST_F(PlotViewTest, BothAxesCanBeLogarithmic) {
  key(Qt::Key_L);
  EXPECT_TRUE(view_.axes().log_y());
  EXPECT_FALSE(below_.axes().log_y());
  EXPECT_GT(view_.axes().y_range().low, 0);
  key(Qt::Key_L, Qt::ShiftModifier);
  EXPECT_TRUE(view_.axes().log_x());
  EXPECT_TRUE(below_.axes().log_x());
  EXPECT_GT(view_.axes().x_range().low, 0);
  // Equal factors have equal widths.
  const double first = view_.axes().pixel_of(10, 1).x() - view_.axes().pixel_of(1, 1).x();
  const double second = view_.axes().pixel_of(100, 1).x() - view_.axes().pixel_of(10, 1).x();
  EXPECT_NEAR(first, second, 1e-6);
  wheel(at(10, 1), 120);
  EXPECT_GT(view_.axes().x_range().low, 0);
  key(Qt::Key_L);
  EXPECT_FALSE(view_.axes().log_y());
}

// An idle dashboard must not use a processor.
TEST_F(PlotViewTest, PaintsOnlyNewSamples) {
  const auto before = view_.paints();
  for (int i = 0; i < 10; ++i) group_.refresh_now();
  EXPECT_EQ(view_.paints(), before);
  accuracy_->append({100, 0.5});
  group_.refresh_now();
  EXPECT_EQ(view_.paints(), before + 1);
}

// A thousand arrivals within one timer period cause one repaint.
TEST_F(PlotViewTest, ManyArrivalsAreOneRepaint) {
  const auto before = view_.paints();
  for (int i = 0; i < 1000; ++i) {
    loss_->append({101.0 + i, 0.1});
    group_.touch();
  }
  EXPECT_EQ(view_.paints(), before);
  ASSERT_TRUE(QTest::qWaitFor([&] { return view_.paints() > before; }, 60000));
  EXPECT_EQ(view_.paints(), before + 1);
}

// A hidden view does not repaint until it is visible.
TEST_F(PlotViewTest, AHiddenViewPaintsWhenItIsShown) {
  view_.hide();
  const auto before = view_.paints();
  loss_->append({150, 0.1});
  group_.refresh_now();
  EXPECT_EQ(view_.paints(), before);
  view_.show();
  group_.refresh_now();
  EXPECT_GT(view_.paints(), before);
}

// Colours of curves differ between the palettes, because each needs contrast with its background.
TEST_F(PlotViewTest, ADarkPaletteRecolours) {
  view_.setPalette(palette_for_tests(true));
  group_.refresh_now();
  const QImage picture = view_.grab().toImage();
  EXPECT_EQ(picture.pixelColor(2, picture.height() / 2),
            palette_for_tests(true).color(QPalette::Base));
  EXPECT_TRUE(has_colour(picture, slot_colour(0, true)));
  EXPECT_FALSE(has_colour(picture, slot_colour(0, false)));
}

// A curve without samples counts as no data.
TEST_F(PlotViewTest, WithoutSamplesItShowsItsEmptyText) {
  PlotView nothing({.title = "Accuracy", .empty_text = "Start a job: tributary job submit FILE"});
  nothing.setPalette(palette_for_tests(false));
  nothing.set_curves({{.key = "a", .name = "a", .series = std::make_shared<Series>(10)}});
  nothing.resize(600, 300);
  nothing.show();
  nothing.group().refresh_now();
  EXPECT_TRUE(nothing.empty());
  const QImage with_text = nothing.grab().toImage().copy(0, 100, 600, 100);
  nothing.set_empty_text({});
  nothing.group().refresh_now();
  const QImage without_text = nothing.grab().toImage().copy(0, 100, 600, 100);
  EXPECT_GT(inked_share(with_text, Qt::white), 0.005);
  EXPECT_EQ(inked_share(without_text, Qt::white), 0);
  // The pointer and keys have no effect on an empty plot.
  QTest::mouseMove(nothing.childAt(300, 150), {300, 150});
  QTest::keyClick(&nothing, Qt::Key_Plus);
  QTest::keyClick(&nothing, Qt::Key_BracketRight);
}

// A line across the missing samples would claim values without a measurement.
TEST_F(PlotViewTest, GapsAreGaps) {
  auto gapped =
      series_of_function(101, [](double x) { return x > 40 && x < 60 ? std::nan("") : 1.0; });
  PlotView gaps({.y = {"y", Unit::one}});
  gaps.setPalette(palette_for_tests(false));
  gaps.set_curves({{.key = "a", .name = "a", .series = gapped}});
  gaps.resize(800, 300);
  gaps.show();
  gaps.group().refresh_now();
  const QImage picture = gaps.grab().toImage();
  const QColor colour = slot_colour(0, false);
  const auto column = [&](double x) {
    return picture.copy(gaps.axes().pixel_of(x, 1).toPoint().x(), 60, 1, 180);
  };
  EXPECT_TRUE(has_colour(column(20), colour, 70));
  EXPECT_FALSE(has_colour(column(50), colour, 70));
  EXPECT_TRUE(has_colour(column(80), colour, 70));
}

}  // namespace
}  // namespace tributary::dashboard
