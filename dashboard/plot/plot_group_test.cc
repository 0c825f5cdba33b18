// Tests of plots that share an x axis, a crosshair and one repainting clock.
#include "dashboard/plot/plot_group.h"

#include <QSignalSpy>

#include "dashboard/plot/plot_testing.h"

namespace tributary::dashboard {
namespace {

// A view without a widget that records the group's calls.
class ViewForTests final : public GroupedView {
 public:
  ViewForTests(PlotGroup& group, std::optional<Extent> data)
      : data_(data), group_(group), number_(group.add(*this)) {}
  ~ViewForTests() { group_.remove(*this); }

  std::optional<Extent> data_extent() const override { return data_; }
  void refresh() override { range_at_refresh_.push_back(group_.x_axis().range()); }

  void set_data(std::optional<Extent> data) { data_ = data; }
  std::uint64_t number() const { return number_; }
  std::size_t refreshes() const { return range_at_refresh_.size(); }
  Extent range_at_last_refresh() const { return range_at_refresh_.back(); }

 private:
  std::optional<Extent> data_;
  std::vector<Extent> range_at_refresh_;
  PlotGroup& group_;
  std::uint64_t number_;
};

class PlotGroupTest : public testing::Test {
 protected:
  PlotGroup group_;
  ViewForTests first_{group_, Extent{0, 10}};
  ViewForTests second_{group_, Extent{5, 20}};
};

// The common range is computed before any view repaints.
TEST_F(PlotGroupTest, TheRangeCoversAllViewsBeforeTheyPaint) {
  ViewForTests without_data(group_, std::nullopt);
  group_.refresh_now();
  for (const ViewForTests* view : {&first_, &second_, &without_data}) {
    ASSERT_EQ(view->refreshes(), 1U);
    EXPECT_EQ(view->range_at_last_refresh().low, 0);
    EXPECT_EQ(view->range_at_last_refresh().high, 20);
  }
}

TEST_F(PlotGroupTest, ADestroyedViewIsNotAskedAgain) {
  {
    const ViewForTests gone(group_, Extent{-100, 100});
    group_.refresh_now();
    EXPECT_EQ(group_.x_axis().range().low, -100);
    EXPECT_NE(gone.number(), second_.number());
  }
  group_.refresh_now();
  EXPECT_EQ(group_.x_axis().range().low, 0);
  const ViewForTests next(group_, std::nullopt);
  EXPECT_EQ(next.number(), 4U) << "no number is given twice";
}

// Repaints are coalesced by the timer.
TEST_F(PlotGroupTest, ManyTouchesAreOneRefresh) {
  for (int i = 0; i < 100; ++i) group_.touch();
  EXPECT_EQ(first_.refreshes(), 0U);
  ASSERT_TRUE(QTest::qWaitFor([&] { return first_.refreshes() > 0; }, 60000));
  EXPECT_EQ(first_.refreshes(), 1U);
}

// The change of the range during a refresh must not schedule another one.
TEST_F(PlotGroupTest, ARangeThatFollowsDataAsksForNoFurtherRefresh) {
  group_.refresh_now();
  second_.set_data(Extent{5, 30});
  group_.refresh_now();
  EXPECT_EQ(first_.range_at_last_refresh().high, 30);
  QTest::qWait(100);
  EXPECT_EQ(first_.refreshes(), 2U);
}

TEST_F(PlotGroupTest, AZoomAndAReturnToLiveAreSeenSoon) {
  group_.refresh_now();
  group_.x_axis().zoom_to({.x = Extent{1, 2}});
  ASSERT_TRUE(QTest::qWaitFor([&] { return first_.refreshes() == 2; }, 60000));
  EXPECT_EQ(first_.range_at_last_refresh().high, 2);
  group_.x_axis().undo();
  group_.refresh_now();
  group_.x_axis().go_live();
  second_.set_data(Extent{5, 40});
  ASSERT_TRUE(QTest::qWaitFor([&] { return first_.refreshes() == 4; }, 60000));
  EXPECT_EQ(first_.range_at_last_refresh().high, 40);
}

TEST_F(PlotGroupTest, OnlyAnotherPlaceMovesTheCrosshair) {
  QSignalSpy moved(&group_, &PlotGroup::crosshair_moved);
  group_.point_at(std::nullopt);
  EXPECT_EQ(moved.size(), 0);
  group_.point_at(7);
  group_.point_at(7);
  EXPECT_EQ(moved.size(), 1);
  EXPECT_EQ(group_.crosshair(), 7);
}

TEST_F(PlotGroupTest, GroupsShareColours) {
  const auto colours = std::make_shared<ColourSlots>();
  colours->slot_of("another");
  const auto slot = colours->slot_of("run");
  QSignalSpy changed(&group_, &PlotGroup::colours_changed);
  group_.share_colours(colours);
  EXPECT_EQ(changed.size(), 1);
  EXPECT_EQ(group_.colours().slot_of("run"), slot);
}

}  // namespace
}  // namespace tributary::dashboard
