// How long an update is.
#pragma once

#include <span>

namespace tributary {

// Euclid's norm.
double norm_of(std::span<const float> values);

}  // namespace tributary
