// Checks and errors for numbers that cannot be added: a lossy codec refuses a bucket with NaN or
// Inf and names the first such element, and an aggregator refuses a payload whose values are not
// finite, or so large that a sum over all agents could overflow.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "core/base/status.h"
#include "core/codec/codec.h"

namespace tributary {

// Returns a not_finite status with the index and value of the first such element. The caller
// guarantees that `values` contains one; the search is linear and runs only on this error path.
Status not_finite_error(std::span<const float> values);
// The same for the values of this call, which may be on a device.
Status not_finite_error(const StageCall& call, std::span<const float> values);

// The largest magnitude that a sum over `contributors` of `agents` agents may have, so that the sum
// over all agents is finite in any order of additions. One agent's share is half the range of
// float32, divided by the number of agents; the other half leaves room for rounding.
float addend_max(std::uint32_t agents, std::uint32_t contributors = 1);
// The same for a payload of this call; without StageCall::finite_only the largest float32.
float addend_max(const StageCall& call, std::uint32_t contributors);
// True if all values are finite and at most `limit` in magnitude. `limit` is finite and not
// negative. The loop has no early exit, so the compiler vectorizes it.
bool within_magnitude(std::span<const float> values, float limit);
// The error for a payload whose numbers cannot be added.
Status not_addable_error(std::string what, std::string expected, std::string got);
// The same for values beyond addend_max().
Status beyond_addend_error(std::string what, const StageCall& call, std::uint32_t contributors);

}  // namespace tributary
