#include "core/update/norm.h"

#include <cmath>
#include <cstddef>
#include <iterator>
#include <numeric>

namespace tributary {

// Eight independent sums, so that additions need not wait for one another. Value i belongs to sum
// i % 8; the inner loop has a fixed length, so that compilers put the sums into vector registers.
// The order of the additions does not depend on that.
double norm_of(std::span<const float> values) {
  constexpr std::size_t kSums = 8;
  double squares[kSums] = {};
  const std::size_t whole = values.size() - values.size() % kSums;
  for (std::size_t i = 0; i < whole; i += kSums) {
    for (std::size_t k = 0; k < kSums; ++k) {
      const double value = values[i + k];
      squares[k] += value * value;
    }
  }
  // The few remaining values need no sums of their own.
  for (const float value : values.subspan(whole)) squares[0] += static_cast<double>(value) * value;
  return std::sqrt(std::accumulate(std::begin(squares), std::end(squares), 0.0));
}

void scale_to_norm(std::span<float> values, double norm, double norm_max) {
  const auto factor = static_cast<float>(norm_max / norm);
  for (float& value : values) value *= factor;
}

}  // namespace tributary
