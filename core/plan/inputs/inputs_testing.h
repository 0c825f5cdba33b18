// Test inputs: four agents on equal links, and a coordinator's codecs with round numbers for size
// and time.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/plan/inputs/inputs.h"

namespace tributary::plan_testing {

// Seconds per byte of a link of `mbit` Mbit/s.
constexpr double beta_of_mbit(double mbit) { return 8e-6 / mbit; }

inline PlanCodec fixed_codec(std::string spec, double bytes_per_value, double s_per_value,
                             double gain) {
  PlanCodec codec = {.spec = std::move(spec), .gain = gain, .decode_s_per_value = s_per_value};
  codec.stages = {{.flow = StageFlow::reduced,
                   .up_bytes = 200,
                   .up_bytes_per_value = bytes_per_value,
                   .down_bytes = 200,
                   .down_bytes_per_value = bytes_per_value,
                   .encode_s_per_value = s_per_value,
                   .aggregate_s_per_value = s_per_value}};
  return codec;
}

inline PlanCodec ratio_codec(std::string spec, PlanFamily family, double s_per_value) {
  PlanCodec codec = fixed_codec(std::move(spec), 0, s_per_value, 1);
  codec.family = family;
  return codec;
}

// A gain curve of an update in which few values hold most of the energy.
inline GainPoints heavy_tailed() {
  return {.ratios = {0.001, 0.003, 0.01, 0.03, 0.1, 0.3},
          .gains = {0.12, 0.2, 0.34, 0.5, 0.72, 0.9}};
}

// A belief in which uplinks have 1, 2, ... `worlds` times the rate of the slowest world. `inputs`
// must have no worlds, and its links must be alike.
inline void believe_uplinks(PlanInputs& inputs, double slowest_mbit, std::size_t worlds) {
  const PlanAgent& agent = inputs.agents.front();
  PlanWorld world = {
      .links = {},
      .peers = {.alpha_s = inputs.peer_alpha_s, .beta_s_per_byte = inputs.peer_beta_s_per_byte},
      .hub_s_per_byte = inputs.hub_beta_s_per_byte,
      .overhead_s = 0.001};
  world.cpu.assign(inputs.codecs.size(), 1);
  world.size = world.cpu;
  world.times.assign(inputs.codecs.size() * kCollectives.size(), 1);
  for (std::size_t i = 1; i <= worlds; ++i) {
    const double up = beta_of_mbit(slowest_mbit * static_cast<double>(i));
    world.links.assign(inputs.agents.size(), {.alpha_s = agent.alpha_s,
                                              .rate = {.up = up, .down = agent.beta_s_per_byte}});
    world.summarize();
    inputs.worlds.push_back(world);
  }
}

// `agents` equal agents that also reach one another at the same rate and latency.
inline PlanInputs federation(double mbit, double alpha_ms, std::size_t agents = 4,
                             std::uint64_t values = 1u << 20) {
  PlanInputs inputs = {.values = values};
  inputs.agents.assign(agents, {.alpha_s = alpha_ms * 1e-3,
                                .beta_s_per_byte = beta_of_mbit(mbit),
                                .compute_s = 0.05,
                                .gain = heavy_tailed()});
  inputs.peer_alpha_s = alpha_ms * 1e-3;
  inputs.peer_beta_s_per_byte = beta_of_mbit(mbit);
  inputs.hub_beta_s_per_byte = beta_of_mbit(mbit);
  inputs.peers_reachable = true;
  inputs.agreement = 0.6;
  inputs.policy.rounds_left = 100;
  inputs.codecs = {fixed_codec("fp32", 4, 0.2e-9, 1),
                   fixed_codec("fp16", 2, 0.4e-9, 0.999),
                   fixed_codec("thc:bits=4", 0.75, 1.5e-9, 0.99),
                   fixed_codec("threelc:s=1", 0.2, 1e-9, 0.5),
                   ratio_codec("topk", PlanFamily::top_k, 1e-9),
                   ratio_codec("star_topk", PlanFamily::ar_top_k, 1e-9)};
  return inputs;
}

}  // namespace tributary::plan_testing
