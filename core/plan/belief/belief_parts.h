// Densities and random draws by address, for both parts of the belief.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>

#include "core/base/random.h"
#include "core/plan/belief/belief.h"
#include "core/plan/inputs/prior.h"

namespace tributary::belief_detail {

// Each of the first rounds may contradict those before it.
inline constexpr int kFirstRounds = 3;
inline constexpr double kJumpDeviation = 1.3;  // of the logarithm of a rate, when it jumps

inline double normal_density(double x, double deviation) {
  const double z = x / deviation;
  return std::exp(-z * z / 2) / (deviation * 2.5066282746310002);
}

// Student's t with three degrees of freedom.
inline double heavy_density(double x, double scale) {
  const double z = x / scale;
  const double base = 1 + z * z / 3;
  return 0.36755259694786135 / (scale * base * base);
}

inline bool usable(double value) { return std::isfinite(value) && value > 0; }

// The uses of the draws of one step. Readings add a number to kUseRead.
enum BeliefUse : std::uint32_t {
  kUsePrior,
  kUseDrift,
  kUseWeigh,
  kUseCopies,
  kUsePair,
  kUseRead,
  kUseInNetwork = 16
};

}  // namespace tributary::belief_detail

namespace tributary {

// Numbers of one address, in order.
class Belief::Draws {
 public:
  Draws(std::uint64_t seed, std::uint64_t step, std::uint32_t use)
      : key_(key_of(philox4x32(
            {static_cast<std::uint32_t>(step), static_cast<std::uint32_t>(step >> 32), use,
             kBeliefDraws},
            {static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)}))) {}
  double uniform() { return static_cast<double>(uniform_01(random_bits(key_, next_++))); }
  // Sum of four uniform values: nearly normal, at most 3.5 deviations, and the same everywhere.
  double normal() {
    const double a = uniform() + uniform();
    const double b = uniform() + uniform();
    return (a + b - 2) * 1.7320508075688772;
  }
  double from(const Prior& prior) { return prior.mean + prior.deviation * normal(); }

 private:
  // Separates these draws from those with another purpose.
  static constexpr std::uint32_t kBeliefDraws = 0x62656c66;
  static StreamKey key_of(const std::array<std::uint32_t, 4>& bits) { return {bits[0], bits[1]}; }

  StreamKey key_;
  std::uint32_t next_ = 0;
};

}  // namespace tributary
