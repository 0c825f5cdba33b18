#include <algorithm>

#include "core/codec/quantize/elements.h"
#include "core/codec/quantize/kernels.h"

namespace tributary::quantize {
namespace {

std::uint32_t largest_magnitude(const float* x, std::size_t n) {
  std::uint32_t largest = 0;
  for (std::size_t i = 0; i < n; ++i) largest = std::max(largest, magnitude_bits(x[i]));
  return largest;
}

// Shared by both 16-bit formats, which differ only in the function of one element.
template <std::uint16_t (*kEncode)(float)>
std::uint32_t to_16_bits(const float* x, std::size_t n, std::uint16_t* out) {
  std::uint32_t largest = 0;
  for (std::size_t i = 0; i < n; ++i) {
    largest = std::max(largest, magnitude_bits(x[i]));
    out[i] = kEncode(x[i]);
  }
  return largest;
}

template <float (*kDecode)(std::uint16_t)>
std::uint32_t from_16_bits(const std::uint16_t* in, std::size_t n, float* x) {
  std::uint32_t largest = 0;
  for (std::size_t i = 0; i < n; ++i) {
    largest = std::max<std::uint32_t>(largest, in[i] & 0x7fffu);
    x[i] = kDecode(in[i]);
  }
  return largest;
}

void to_nearest_levels(const float* x, std::size_t n, float levels_per_unit, std::int8_t* levels) {
  for (std::size_t i = 0; i < n; ++i) levels[i] = nearest_level(x[i], levels_per_unit);
}

void to_random_levels(const float* x, std::size_t n, float levels_per_unit, StreamKey key,
                      std::uint32_t first_element, std::int8_t* levels) {
  for (std::size_t i = 0; i < n; ++i) {
    const auto element = first_element + static_cast<std::uint32_t>(i);
    levels[i] = random_level(x[i], levels_per_unit, random_bits(key, element));
  }
}

template <typename Level>
void from_levels(const Level* levels, std::size_t n, float step, float* x) {
  for (std::size_t i = 0; i < n; ++i) x[i] = static_cast<float>(levels[i]) * step;
}

// The caller has checked that no sum overflows; the cast undoes the promotion to int.
template <typename Level, typename Sum>
void add_levels(const Level* levels, std::size_t n, Sum* sum) {
  for (std::size_t i = 0; i < n; ++i) sum[i] = static_cast<Sum>(sum[i] + levels[i]);
}

void add_floats(const float* a, const float* b, std::size_t n, float* sum) {
  for (std::size_t i = 0; i < n; ++i) sum[i] = a[i] + b[i];
}

}  // namespace

const Kernels& scalar_kernels() {
  static constexpr Kernels kKernels = {
      .largest_magnitude = largest_magnitude,
      .to_half = to_16_bits<half_of>,
      .to_bfloat = to_16_bits<bfloat_of>,
      .from_half = from_16_bits<float_of_half>,
      .from_bfloat = from_16_bits<float_of_bfloat>,
      .to_nearest_levels = to_nearest_levels,
      .to_random_levels = to_random_levels,
      .from_levels8 = from_levels<std::int8_t>,
      .from_levels16 = from_levels<std::int16_t>,
      .from_levels32 = from_levels<std::int32_t>,
      .add_levels8_to16 = add_levels<std::int8_t, std::int16_t>,
      .add_levels8_to32 = add_levels<std::int8_t, std::int32_t>,
      .add_levels16_to16 = add_levels<std::int16_t, std::int16_t>,
      .add_levels16_to32 = add_levels<std::int16_t, std::int32_t>,
      .add_levels32_to32 = add_levels<std::int32_t, std::int32_t>,
      .add_floats = add_floats,
  };
  return kKernels;
}

}  // namespace tributary::quantize
