// Tests of the chart of the Pareto front.
#include "dashboard/pages/plan/pareto.h"

#include <gtest/gtest.h>

#include <cmath>

namespace tributary::dashboard {
namespace {

PlanAlternative choice_of(double gain, double round_s, bool pareto = true, bool chosen = false) {
  return {.codec = "topk",
          .collective = "star",
          .ratio = 0.1,
          .round_s = round_s,
          .gain = gain,
          .pareto = pareto,
          .chosen = chosen};
}

const PlotCurve* curve_named(const std::vector<PlotCurve>& curves, const QString& key) {
  for (const PlotCurve& one : curves) {
    if (one.key == key) return &one;
  }
  return nullptr;
}

TEST(ParetoTest, MarksTheOneThatWasChosen) {
  const std::vector<PlanAlternative> all = {choice_of(1, 4), choice_of(0.5, 1, true, true),
                                            choice_of(0.25, 0.9)};
  const std::vector<PlotCurve> curves = pareto_curves(all, chosen_of(all));
  const PlotCurve* const knee = curve_named(curves, "chosen: the knee");
  ASSERT_TRUE(knee);
  EXPECT_EQ(knee->series->last()->y, 1);
  std::size_t through = 0;  // counts the samples at the crossing
  for (std::size_t i = 0; i < knee->series->size(); ++i) {
    const Sample one = knee->series->at(i);
    through += one.x == 2 && one.y == 1 ? 1U : 0U;
  }
  EXPECT_EQ(through, 2u);
  EXPECT_FALSE(curve_named(curves, "selected"));
  EXPECT_TRUE(curve_named(pareto_curves(all, 2), "selected"));
}

TEST(ParetoTest, ItsLineIsOfThoseThatNothingBeatsInTheTwo) {
  // The third alternative is in the set for a criterion other than time and gain.
  const std::vector<PlanAlternative> all = {choice_of(1, 4), choice_of(0.5, 1), choice_of(0.4, 2),
                                            choice_of(0.25, 0.5), choice_of(0.9, 9, false)};
  const std::vector<Sample> line = pareto_line(all);
  ASSERT_EQ(line.size(), 3u);
  EXPECT_EQ(line[0].y, 4);
  EXPECT_EQ(line[1].y, 1);
  EXPECT_EQ(line[2].y, 0.5);
  const std::vector<PlotCurve> curves = pareto_curves(all, std::nullopt);
  EXPECT_EQ(curve_named(curves, "dominated")->series->size(), 2u) << "a gap and a dot";
}

TEST(ParetoTest, AlternativesWithoutAPlaceAreLeftOut) {
  EXPECT_FALSE(pareto_place(choice_of(0, 1)));
  EXPECT_FALSE(pareto_place(choice_of(std::nan(""), 1)));
  EXPECT_FALSE(pareto_place(choice_of(1, std::nan(""))));
  EXPECT_FALSE(pareto_place(choice_of(1, 0)));
  const std::vector<PlanAlternative> all = {choice_of(0, 1, true, true)};
  EXPECT_TRUE(pareto_curves(all, 0).empty());
  EXPECT_TRUE(pareto_curves({}, 3).empty());
  EXPECT_FALSE(chosen_of({}));
}

TEST(ParetoTest, WideSpreadsNeedALogarithmicAxis) {
  EXPECT_FALSE(spread_widely({choice_of(1, 1), choice_of(1, 10)}));
  EXPECT_TRUE(spread_widely({choice_of(1, 1), choice_of(1, 100)}));
  EXPECT_FALSE(spread_widely({}));
}

}  // namespace
}  // namespace tributary::dashboard
