// Synthetic gradients for tests, benchmarks and demonstrations. They are reproducible from their
// address on one machine; the last bit of a value may differ between C libraries. The functions are
// pure.
#pragma once

#include <cstdint>
#include <span>

#include "core/base/random.h"

namespace tributary {

// Fills `out` with magnitudes whose logarithm is normal with standard deviation `sigma`, and random
// signs. Most values are small and a few are very large, as in real gradients. Requires at most
// 2^32 values and a bucket below 2^31; the purpose of the address is ignored.
void fill_lognormal_gradient(const DrawAddress& address, float sigma, std::span<float> out);

// The parameters of a simulated gradient.
struct AgentGradient {
  std::uint64_t seed = 0;
  std::uint64_t round = 0;
  float sigma = 1.0f;
  float noise = 0.1f;  // in standard deviations of the common part
};

// Fills `out` with the gradient of one agent: a log-normal part that all agents share, and normal
// noise of its own. `agent` must not be kSharedDraw.
void fill_agent_gradient(const AgentGradient& gradient, std::uint32_t agent, std::span<float> out);

}  // namespace tributary
