// Priors, densities and random draws by address, for both parts of the belief.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>

#include "core/base/random.h"
#include "core/plan/belief/belief.h"

namespace tributary::belief_detail {

// The prior: means and standard deviations of logarithms.
struct Prior {
  double mean = 0;
  double deviation = 1;
};
inline const Prior kAlphaPrior = {std::log(0.01), 1};
inline const Prior kRatePrior = {std::log(4e-7), 1.6};  // 20 Mbit/s
inline const Prior kPeerAlphaPrior = {std::log(0.003), 1};
inline const Prior kPeerRatePrior = {std::log(2.7e-7), 1.5};  // 30 Mbit/s
inline const Prior kHubPrior = {std::log(4e-9), 0.8};         // 2 Gbit/s
inline const Prior kOverheadPrior = {std::log(0.005), 0.8};
inline constexpr Prior kCpuPrior = {0, 0.3};
inline constexpr Prior kSizePrior = {0, 0.15};
inline constexpr Prior kStarPrior = {0, 0.15};
inline constexpr Prior kPeersPrior = {0.15,
                                      0.2};  // untried exchanges take longer more often than not
inline constexpr Prior kPairPrior = {0, 0.06};
inline constexpr double kAgentDeviation = 0.5;  // of an agent's rate from the level of all
inline constexpr double kDownDeviation = 0.4;   // of a downlink from its uplink
inline constexpr double kSharedPrior = 0.5;
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

// The uses of the draws of one step.
enum BeliefUse : std::uint32_t { kUsePrior, kUseDrift, kUseWeigh, kUseCopies, kUsePair, kUseRead };

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
  double from(const belief_detail::Prior& prior) { return prior.mean + prior.deviation * normal(); }

 private:
  // Separates these draws from those with another purpose.
  static constexpr std::uint32_t kBeliefDraws = 0x62656c66;
  static StreamKey key_of(const std::array<std::uint32_t, 4>& bits) { return {bits[0], bits[1]}; }

  StreamKey key_;
  std::uint32_t next_ = 0;
};

}  // namespace tributary
