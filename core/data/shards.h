// Who trains on what, when one data set is to be shared out: by seed, number of agents and skew,
// and the same on every machine. Every example belongs to exactly one agent.
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
  // 0: shuffled and dealt out in equal parts. Above: for each class the agents' parts are drawn
  // from a Dirichlet distribution with this parameter; the smaller, the more skewed. 1e-3 to 1e6.
  double dirichlet_alpha = 0;
};

// The examples of each agent in ascending order. `labels` may be empty where nothing is skewed;
// each label is below `classes`. No agent is left without an example where there are enough of
// them: it then gets one from whoever has most.
Result<std::vector<std::vector<std::uint32_t>>> make_shards(const ShardOptions& options,
                                                            std::uint32_t count,
                                                            std::span<const std::uint16_t> labels,
                                                            std::uint32_t classes);

struct Split {
  std::vector<std::uint32_t> train;
  std::vector<std::uint32_t> holdout;
};

// Sets a share in [0, 1) of an agent's examples aside, rounded down, for its own evaluation. Both
// parts stay in ascending order.
Result<Split> split_holdout(std::vector<std::uint32_t> examples, double share, std::uint64_t seed,
                            std::uint32_t agent);

}  // namespace tributary
