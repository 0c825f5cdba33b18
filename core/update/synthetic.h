// Gradients made up for tests, benchmarks and demonstrations. They repeat from their address on one
// machine; the last bit of a value may differ between C libraries.
#pragma once

#include <cstdint>
#include <span>

#include "core/base/random.h"

namespace tributary {

// Magnitudes whose logarithm is normal with this standard deviation, with random signs: most values
// small, a few very large, as in real gradients. At most 2^32 values; the purpose is set here, and
// bucket < 2^31.
void fill_lognormal_gradient(const DrawAddress& address, float sigma, std::span<float> out);

struct AgentGradient {
  std::uint64_t seed = 0;
  std::uint64_t round = 0;
  float sigma = 1.0f;
  float noise = 0.1f;  // in standard deviations of the common part
};

// What one of several agents computes: a log-normal part that all of them share, plus normal noise
// of its own. `agent` must not be kSharedDraw.
void fill_agent_gradient(const AgentGradient& gradient, std::uint32_t agent, std::span<float> out);

}  // namespace tributary
