// Scenarios for tests, without noise and without deviations, so that times can be computed by hand.
#pragma once

#include <vector>

#include "coordinator/closed_loop/truth/plan_scenario.h"
#include "core/plan/inputs/inputs.h"

namespace tributary::closed_loop_testing {

inline HiddenSettings nothing_hidden() {
  return {.codec_time = 0,
          .payload_size = 0,
          .collective_time = 0,
          .device_report = 0,
          .round_noise = 0,
          .hiccups = 0,
          .overhead_ms = {1e-3, 1e-3}};
}

// Agents with equal links that follow `steps`, and 50 ms of training.
inline PlanScenario scenario_of(const std::vector<LinkStep>& steps) {
  PlanScenario scenario;
  scenario.training_ms = {50, 50};
  scenario.uplinks.steps = steps;
  scenario.hidden = nothing_hidden();
  return scenario;
}

inline PlanScenario steady(double rate_mbit_s, double delay_ms) {
  return scenario_of({{.seconds = 1, .rate_mbit_s = rate_mbit_s, .delay_ms = delay_ms}});
}

inline PlanChoice choice_of(const char* codec, wire::Collective collective,
                            std::uint64_t bucket_values = 1u << 16) {
  return {.codec = codec, .collective = collective, .bucket_values = bucket_values};
}

}  // namespace tributary::closed_loop_testing
