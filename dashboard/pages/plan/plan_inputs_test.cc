// Tests of listing a plan's inputs. Their texts come from a file and must not be interpreted.
#include "dashboard/pages/plan/plan_inputs.h"

#include <gmock/gmock.h>

#include "dashboard/pages/common/texts.h"

namespace tributary::dashboard {
namespace {

using testing::ElementsAre;

std::vector<std::string> lines_of(const RoundDetail& detail) {
  std::vector<std::string> lines;
  for (const PlanInput& one : plan_inputs_of(detail)) {
    lines.push_back(one.name + " = " + one.value +
                    (one.about.empty() ? "" : " (" + one.about + ')'));
  }
  return lines;
}

RoundDetail with_inputs(const std::string& inputs) {
  RoundDetail detail;
  detail.inputs.assign(inputs.begin(), inputs.end());
  return detail;
}

TEST(PlanInputsTest, AreListedInTheirOrderAndUnits) {
  EXPECT_THAT(
      lines_of(with_inputs(
          R"({"values":1000,"agents":[{"name":"a","alpha_s":0.01,)"
          R"("beta_s_per_byte":8e-7,"gain":{"ratios":[0.1,0.01]}}],"goal":"adaptive"})")),
      ElementsAre("values = 1000", "agents a: alpha = 10.0 ms", "agents a: beta = 10.0 Mbit/s",
                  "agents a gain: ratios = 0.1, 0.01", "goal = adaptive"));
}

TEST(PlanInputsTest, ObservationsShowTheObserverAndTheAge) {
  RoundDetail detail;
  detail.observations = {
      {.name = "alpha", .unit = "seconds", .value = 0.005, .agent_id = "b", .age_s = 1.5},
      {.name = "load", .unit = "count", .value = 3}};
  EXPECT_THAT(lines_of(detail), ElementsAre("observed alpha = 5.00 ms (b, 1.50 s old)",
                                            "observed load = 3 count (coordinator, 0 s old)"));
}

TEST(PlanInputsTest, InvalidJsonIsShownUnchanged) {
  EXPECT_THAT(lines_of(with_inputs("{\"a\":")), ElementsAre("inputs (not valid JSON) = {\"a\":"));
  EXPECT_TRUE(lines_of({}).empty());
}

TEST(PlanInputsTest, AreBounded) {
  std::string inputs = "{\"a\":[";
  for (int i = 0; i < 5000; ++i) inputs += "{\"b\":1},";
  inputs += "{\"b\":1}]}";
  const std::vector<PlanInput> lines = plan_inputs_of(with_inputs(inputs));
  EXPECT_EQ(lines.size(), kPlanInputsMax + 1);
  EXPECT_EQ(lines.back().name, "3,001 more, not shown");
}

TEST(TextsTest, NothingInThemMovesOrHidesAnything) {
  EXPECT_EQ(plain_text("a\x1b[2J\n\xe2\x80\xae"
                       "b"),
            "a [2J  b");
  EXPECT_EQ(plain_text(std::string(100'000, 'x')).size(), 4001);
  EXPECT_EQ(words_of("link_changed"), "link changed");
  EXPECT_EQ(grouped(1234567), "1,234,567");
}

}  // namespace
}  // namespace tributary::dashboard
