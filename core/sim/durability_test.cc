// Power failures while records are not durable. A coordinator loses rounds that agents have
// applied, agents lose records of their contributions, and all other invariants hold.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ostream>
#include <string>

#include "core/sim/simulation_testing.h"

namespace tributary {
namespace {

struct PowerCase {
  std::string scenario;
  Durability durability = Durability::round;
  double sync_s = 30;
  std::uint64_t seeds = 6;
  // More power failures of both kinds than the scenario has.
  std::uint32_t power_cuts = 12;
  friend std::ostream& operator<<(std::ostream& out, const PowerCase& c) {
    return out << c.scenario << " " << name(c.durability) << " " << c.sync_s;
  }
};

Scenario scenario_of(const PowerCase& one) {
  Scenario scenario = scenario_named(one.scenario);
  scenario.machines.durability = one.durability;
  scenario.machines.sync_s = one.sync_s;
  for (const Incident incident : {Incident::agent_power_cut, Incident::coordinator_power_cut}) {
    IncidentPlan& plan = scenario.incidents[static_cast<std::size_t>(incident)];
    plan = {.count = one.power_cuts, .duration = {20, 1000}};
  }
  for (const Incident incident : {Incident::agent_kill, Incident::coordinator_kill}) {
    IncidentPlan& plan = scenario.incidents[static_cast<std::size_t>(incident)];
    plan = {.count = one.power_cuts / 2, .duration = {20, 500}};
  }
  return scenario;
}

class Durabilities : public testing::TestWithParam<PowerCase> {};

TEST_P(Durabilities, HoldTheInvariants) {
  const Scenario scenario = scenario_of(GetParam());
  const RunsReport report =
      run_some(scenario, {.seeds = GetParam().seeds, .repeat_every = GetParam().seeds});
  EXPECT_EQ(report.violations, 0u) << failures_of(report);
  EXPECT_EQ(report.repeated, 1u);
  EXPECT_EQ(report.rounds_committed, GetParam().seeds * scenario.rounds);
  const bool may_lose = GetParam().durability != Durability::round;
  EXPECT_EQ(report.faults.contains("round_lost"), may_lose);
  EXPECT_EQ(report.faults.contains("residual_dropped"), may_lose);
  EXPECT_EQ(report.faults.contains("sums_value_lost"), may_lose);
}

INSTANTIATE_TEST_SUITE_P(PowerFailures, Durabilities,
                         testing::Values(PowerCase{"power_cuts", Durability::round},
                                         PowerCase{"power_cuts", Durability::seconds_30},
                                         PowerCase{"power_cuts", Durability::seconds_30, 0.2},
                                         PowerCase{"power_cuts", Durability::stop},
                                         PowerCase{"peers", Durability::round, 30, 3},
                                         PowerCase{"peers", Durability::seconds_30, 0.2, 3},
                                         PowerCase{"peers", Durability::stop, 30, 3}),
                         [](const testing::TestParamInfo<PowerCase>& one) {
                           std::string text =
                               one.param.scenario + "_" + std::string(name(one.param.durability));
                           return one.param.sync_s < 1 ? text + "_often" : text;
                         });

}  // namespace
}  // namespace tributary
