// Sums whose result has the same bits on every machine.
//
// All sums are in double, in a fixed order: sixteen lanes each add every sixteenth value, and the
// lanes are then added in pairs. The compiler can vectorize the loops without changing the order.
// The functions are pure and cost one pass over the data.
#pragma once

#include <array>
#include <cstddef>
#include <span>

namespace tributary {

constexpr std::size_t kSumLanes = 16;
using SumLanes = std::array<double, kSumLanes>;

// Adds lane i + width to lane i and halves the width until one lane remains.
inline double add_in_pairs(SumLanes lanes) {
  for (std::size_t width = kSumLanes / 2; width > 0; width /= 2) {
    for (std::size_t i = 0; i < width; ++i) lanes[i] += lanes[i + width];
  }
  return lanes[0];
}

// The dot product. Requires spans of equal length. The product of two float32 is exact in double,
// so only the additions round.
template <typename T>
double ordered_dot(std::span<const T> a, std::span<const T> b) {
  SumLanes lanes = {};
  const std::size_t whole = a.size() / kSumLanes * kSumLanes;
  for (std::size_t i = 0; i < whole; i += kSumLanes) {
    for (std::size_t lane = 0; lane < kSumLanes; ++lane) {
      lanes[lane] += static_cast<double>(a[i + lane]) * static_cast<double>(b[i + lane]);
    }
  }
  for (std::size_t i = whole; i < a.size(); ++i) {
    lanes[i - whole] += static_cast<double>(a[i]) * static_cast<double>(b[i]);
  }
  return add_in_pairs(lanes);
}

inline double ordered_sum(std::span<const double> values) {
  SumLanes lanes = {};
  for (std::size_t i = 0; i < values.size(); ++i) lanes[i % kSumLanes] += values[i];
  return add_in_pairs(lanes);
}

}  // namespace tributary
