// The common part of the tests of whole simulations.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "core/base/thread_pool.h"
#include "core/sim/runs.h"

namespace tributary {

// Reads one of tests/scenarios.
inline Scenario scenario_named(const std::string& name) {
  Result<Scenario> scenario = read_scenario(fmt::format("{}/{}.toml", TRIBUTARY_SCENARIOS, name));
  EXPECT_TRUE(scenario.ok()) << scenario.status().text();
  return scenario.ok() ? std::move(*scenario) : Scenario{};
}

inline RunsReport run_some(const Scenario& scenario, RunsRequest request) {
  request.threads = hardware_threads();
  Result<RunsReport> report = run_seeds(scenario, request);
  EXPECT_TRUE(report.ok()) << report.status().text();
  return report.ok() ? std::move(*report) : RunsReport{};
}

// Number of committed rounds by this collective; seeds that ran twice count once more.
inline std::uint64_t rounds_by(const RunsReport& report, wire::Collective collective) {
  const auto found = report.collectives.find(wire::EnumNameCollective(collective));
  return found == report.collectives.end() ? 0 : found->second;
}

inline std::string failures_of(const RunsReport& report) {
  std::string text;
  for (const FailedRun& failed : report.failed) {
    text += fmt::format("seed {} at {:.6f} s: {}: {}\n", failed.seed,
                        static_cast<double>(failed.violation.at_ns) * 1e-9,
                        failed.violation.invariant, failed.violation.text);
  }
  return text;
}

}  // namespace tributary
