// Fusion profiles for tests: random ones with exact or inexact sums, and one that resembles a
// model.
#pragma once

#include <cmath>
#include <cstdint>
#include <random>

#include "core/plan/fusion/fusion_profile.h"

namespace tributary::fusion_testing {

enum class Decode { none, some };

// Draws random profiles. Zeros and repeated values are frequent, so that ties occur. In exact
// profiles every number is a small multiple of 1/16 s or 1/16 s per byte: sums are exact in any
// order, and plans can be compared with ==.
class ProfileDraws {
 public:
  explicit ProfileDraws(std::uint64_t seed) : random_(seed) {}

  std::uint64_t below(std::uint64_t count) { return random_() % count; }
  double uniform() { return static_cast<double>(random_() >> 11) * 0x1p-53; }

  FusionProfile exact(std::size_t tensors, Decode decode) {
    FusionProfile profile;
    const std::uint64_t backward_max = 1 + below(20);
    const std::uint64_t bytes_max = 1 + below(40);
    const bool equal = below(4) == 0;
    for (std::size_t i = 0; i < tensors; ++i) {
      const double of_all = static_cast<double>(bytes_max);
      profile.backward_s.push_back(equal ? 1 : static_cast<double>(below(backward_max)));
      profile.bytes.push_back(equal ? of_all : static_cast<double>(below(bytes_max + 1)));
    }
    profile.compress = exact_cost();
    profile.network = exact_cost();
    if (decode == Decode::some) {
      profile.decode = exact_cost();
      profile.decode_agents = 1 + static_cast<std::uint32_t>(below(4));
    }
    return profile;
  }

  // Values of different magnitudes without ties, as measured values are.
  FusionProfile rounded(std::size_t tensors, Decode decode) {
    FusionProfile profile;
    for (std::size_t i = 0; i < tensors; ++i) {
      profile.backward_s.push_back(1e-3 * uniform());
      profile.bytes.push_back(std::exp(6 + 10 * uniform()));
    }
    profile.compress = rounded_cost();
    profile.network = rounded_cost();
    if (decode == Decode::some) profile.decode = rounded_cost();
    return profile;
  }

 private:
  StageCost exact_cost() {
    const std::uint64_t alpha = below(3) == 0 ? 0 : below(1u << below(9));
    const std::uint64_t beta = below(4) == 0 ? 0 : below(17);
    return {.alpha_s = static_cast<double>(alpha) / 16,
            .beta_s_per_byte = static_cast<double>(beta) / 16};
  }
  StageCost rounded_cost() {
    return {.alpha_s = 1e-3 * uniform() * uniform(), .beta_s_per_byte = 1e-8 * uniform()};
  }

  std::mt19937_64 random_;  // std::mt19937_64 draws the same numbers with every standard library
};

// Tensors of a convolutional network, four per block: a few large ones and many vectors, the
// largest ready first. Compression leaves 1 of 4 bytes.
inline FusionProfile like_a_model(std::size_t tensors) {
  ProfileDraws draws(tensors);
  FusionProfile profile;
  for (std::size_t i = 0; i < tensors; ++i) {
    const double depth = 1 - static_cast<double>(i) / static_cast<double>(tensors);
    const double large = 4 * 1.5e6 * std::exp2(3 * (depth - 1)) * (0.5 + draws.uniform());
    const bool vector = i % 4 != 0;
    profile.bytes.push_back(std::round(vector ? 4 * 512 * (1 + draws.uniform()) : large));
    profile.backward_s.push_back((vector ? 4e-5 : 8e-4) * (0.5 + draws.uniform()) * 314 /
                                 static_cast<double>(tensors));
  }
  profile.compress = {.alpha_s = 2.5e-4, .beta_s_per_byte = 1.0 / 20e9};
  profile.network = {.alpha_s = 2e-4, .beta_s_per_byte = 0.25 * 8 / 10e9};
  return profile;
}

// The same profile for agents that gather all payloads.
inline FusionProfile like_a_gather(std::size_t tensors) {
  FusionProfile profile = like_a_model(tensors);
  profile.decode = {.alpha_s = 5e-5, .beta_s_per_byte = 1.0 / 60e9};
  profile.decode_agents = 8;
  return profile;
}

}  // namespace tributary::fusion_testing
