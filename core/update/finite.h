// Finds values that are not finite.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

namespace tributary {

// The index of the first NaN or infinity. One pass over the values, in blocks that become SIMD
// code.
std::optional<std::uint64_t> first_not_finite(std::span<const float> values);

}  // namespace tributary
