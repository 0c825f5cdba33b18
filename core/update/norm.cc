#include "core/update/norm.h"

#include <cmath>
#include <cstddef>

namespace tributary {

namespace {

double square_of(float value) { return static_cast<double>(value) * value; }

}  // namespace

// Eight independent sums, so that additions need not wait for one another. Value i belongs to sum
// i % 8. They are variables because compilers keep an array in memory unless they unroll the loop,
// and each addition then waits for the store before it.
double norm_of(std::span<const float> values) {
  constexpr std::size_t kSums = 8;
  double s0 = 0, s1 = 0, s2 = 0, s3 = 0, s4 = 0, s5 = 0, s6 = 0, s7 = 0;
  const std::size_t whole = values.size() - values.size() % kSums;
  const float* const end = values.data() + whole;
  for (const float* v = values.data(); v != end; v += kSums) {
    s0 += square_of(v[0]);
    s1 += square_of(v[1]);
    s2 += square_of(v[2]);
    s3 += square_of(v[3]);
    s4 += square_of(v[4]);
    s5 += square_of(v[5]);
    s6 += square_of(v[6]);
    s7 += square_of(v[7]);
  }
  // The few remaining values need no sums of their own.
  for (const float value : values.subspan(whole)) s0 += square_of(value);
  return std::sqrt(s0 + s1 + s2 + s3 + s4 + s5 + s6 + s7);
}

void scale_to_norm(std::span<float> values, double norm, double norm_max) {
  const auto factor = static_cast<float>(norm_max / norm);
  for (float& value : values) value *= factor;
}

}  // namespace tributary
