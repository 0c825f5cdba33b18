// Chance, for whatever happens in a simulation: every node, link and disk draws from a sequence of
// its own, so that one fault more at one place does not move those at another.
#pragma once

#include <cstdint>

namespace tributary {

// What a sequence is for; with an index it names one.
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
};

class SeededDraws {
 public:
  SeededDraws(std::uint64_t seed, DrawUse use, std::uint64_t index);

  std::uint64_t bits();
  double uniform();  // in [0, 1)
  bool chance(double probability) { return probability > 0 && uniform() < probability; }
  // In [0, count); 0 for a count of 0.
  std::uint64_t below(std::uint64_t count);
  // In [low, high]; low where high is not above it.
  std::int64_t between(std::int64_t low, std::int64_t high);

 private:
  std::uint64_t state_;
};

}  // namespace tributary
