// Pseudo-random numbers of a simulation. Every node, link and disk has a sequence of its own, so
// that one more fault at one place does not change the draws at another. A statement should draw at
// most once, because compilers evaluate the arguments of a call in different orders.
#pragma once

#include <cstdint>

namespace tributary {

// The use of a sequence. Together with an index it identifies the sequence.
enum class DrawUse : std::uint32_t {
  schedule,
  node,
  disk,
  link_up,
  link_down,
  training,
  clock,
  hostile,
  peers,
  peer_link,
  rates,
  rate_steps,
  hidden_factors,
  round_noise,
  packets,
};

// One sequence. It is deterministic and gives the same numbers on every platform. Not thread-safe.
class SeededDraws {
 public:
  SeededDraws(std::uint64_t seed, DrawUse use, std::uint64_t index);

  std::uint64_t bits();
  double uniform();  // in [0, 1)
  // True with this probability. Draws nothing if the probability is 0 or less.
  bool chance(double probability) { return probability > 0 && uniform() < probability; }
  // In [0, count); 0 if count is 0.
  std::uint64_t below(std::uint64_t count);
  // In [low, high]. Returns `low` and draws nothing if high is not greater.
  std::int64_t between(std::int64_t low, std::int64_t high);

 private:
  std::uint64_t state_;
};

}  // namespace tributary
