// Searches for values that are not finite. The function is pure. Any thread may call it; it
// allocates nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

namespace tributary {

// Returns the index of the first NaN or infinity, or nothing. One vectorized pass over the values.
std::optional<std::uint64_t> first_not_finite(std::span<const float> values);

}  // namespace tributary
