// Distributes the examples of one data set among agents. The distribution is a pure function of
// seed, number of agents, skew and labels, and is the same on every machine, so agents compute
// their shards without communication. Every example belongs to exactly one agent.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/base/status.h"

namespace tributary {

inline constexpr std::uint32_t kAgentsMax = 100'000;

struct ShardOptions {
  std::uint64_t seed = 0;
  std::uint32_t agents = 1;
  // 0: examples are shuffled and dealt in equal parts. Above 0: for each class, the agents' shares
  // are drawn from a Dirichlet distribution with this parameter, 1e-3 to 1e6. Smaller values give
  // more skew.
  double dirichlet_alpha = 0;
};

// Returns the examples of each agent in ascending order. `labels` may be empty without a skew; with
// one, each example needs a label below `classes`. An agent that would have no example gets one
// from the agent with the most, unless no agent has two. Fails with invalid_argument.
Result<std::vector<std::vector<std::uint32_t>>> make_shards(const ShardOptions& options,
                                                            std::uint32_t count,
                                                            std::span<const std::uint16_t> labels,
                                                            std::uint32_t classes);

// An agent's examples, divided in two.
struct Split {
  std::vector<std::uint32_t> train;
  std::vector<std::uint32_t> holdout;
};

// Sets aside a share in [0, 1) of an agent's examples, rounded down, for its own evaluation. Both
// parts are in ascending order. Fails with invalid_argument if the share is out of range.
Result<Split> split_holdout(std::vector<std::uint32_t> examples, double share, std::uint64_t seed,
                            std::uint32_t agent);

}  // namespace tributary
