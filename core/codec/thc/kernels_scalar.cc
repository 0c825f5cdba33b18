#include <algorithm>

#include "core/codec/thc/kernels.h"
#include "core/codec/thc/packing.h"

namespace tributary::thc {
namespace {

std::uint32_t largest_magnitude(const float* x, std::size_t n) {
  std::uint32_t largest = 0;
  for (std::size_t i = 0; i < n; ++i) largest = std::max(largest, magnitude_bits(x[i]));
  return largest;
}

// The order of the additions determines the bits of the norm, which all agents must share.
std::uint32_t sum_squares(const float* x, std::size_t n, float scale, float* sum) {
  float sums[kSquareLanes] = {};
  for (std::size_t i = 0; i < n; ++i) {
    const float scaled = x[i] * scale;
    sums[i % kSquareLanes] += scaled * scaled;
  }
  for (std::size_t half = kSquareLanes / 2; half > 0; half /= 2) {
    for (std::size_t lane = 0; lane < half; ++lane) sums[lane] += sums[lane + half];
  }
  *sum = sums[0];
  return largest_magnitude(x, n);
}

void draw_words(StreamKey key, std::uint32_t first, std::size_t n, std::uint32_t* words) {
  for (std::size_t i = 0; i < n; ++i) {
    words[i] = random_bits(key, first + static_cast<std::uint32_t>(i));
  }
}

// Without the factor 1/√B, which spread_scale() and collect_factor() contain.
void hadamard(float* y, std::size_t block) {
  for (std::size_t stride = 1; stride < block; stride *= 2) {
    for (std::size_t i = 0; i < block; ++i) {
      if ((i & stride) != 0) continue;
      const float a = y[i];
      const float b = y[i + stride];
      y[i] = a + b;
      y[i + stride] = a - b;
    }
  }
}

void spread(const float* x, std::size_t block, const std::uint32_t* signs, float factor, float* y) {
  for (std::size_t i = 0; i < block; ++i) {
    y[i] = x[i] * signed_factor(factor, signs[i / kSignsPerWord], i);
  }
  hadamard(y, block);
}

std::uint32_t collect(float* y, std::size_t block, const std::uint32_t* signs, float factor) {
  hadamard(y, block);
  for (std::size_t i = 0; i < block; ++i) {
    y[i] = y[i] * signed_factor(factor, signs[i / kSignsPerWord], i);
  }
  return largest_magnitude(y, block);
}

std::uint32_t affine(const float* x, std::size_t n, float offset, float factor, float* y) {
  for (std::size_t i = 0; i < n; ++i) y[i] = (x[i] + offset) * factor;
  return largest_magnitude(y, n);
}

std::uint32_t extent(const float* x, std::size_t n, float* low, float* high) {
  *low = *high = 0.0f;
  for (std::size_t i = 0; i < n; ++i) {
    if (-x[i] > *low) *low = -x[i];
    if (x[i] > *high) *high = x[i];
  }
  return largest_magnitude(x, n);
}

void quantize(const float* y, std::size_t n, const Levels& levels, const Rounding& rounding,
              std::uint32_t first, std::uint8_t* level) {
  const auto granularity = static_cast<float>(levels.granularity);
  for (std::size_t i = 0; i < n; ++i) {
    const float place = clamp_to_grid(y[i] + 0.5f * granularity, granularity);
    const Cell& cell = levels.cells[static_cast<std::size_t>(place)];
    const auto element = first + static_cast<std::uint32_t>(i);
    level[i] = round_to_level(place, cell, rounding_draw(rounding, element));
  }
}

// T has at most 10 bits; the caller has chosen a type that holds the sum.
template <typename Sum>
void look_up_add(const std::uint8_t* level, std::size_t n, const Levels& levels, Sum* sum) {
  for (std::size_t i = 0; i < n; ++i) sum[i] = static_cast<Sum>(sum[i] + levels.places[level[i]]);
}

void centre_levels(const std::uint8_t* level, std::size_t n, const Levels& levels, float* y) {
  const auto granularity = static_cast<std::int32_t>(levels.granularity);
  for (std::size_t i = 0; i < n; ++i) {
    y[i] = static_cast<float>(2 * levels.places[level[i]] - granularity);
  }
}

template <typename Sum>
std::uint32_t centre(const Sum* sum, std::size_t n, std::int32_t middle, float* y) {
  Sum largest = 0;
  for (std::size_t i = 0; i < n; ++i) {
    largest = std::max(largest, sum[i]);
    // Unsigned, because a sum is only checked afterwards.
    const std::uint32_t difference = 2 * std::uint32_t{sum[i]} - static_cast<std::uint32_t>(middle);
    y[i] = static_cast<float>(static_cast<std::int32_t>(difference));
  }
  return largest;
}

}  // namespace

const Kernels& scalar_kernels() {
  static constexpr Kernels kKernels = {
      .sum_squares = sum_squares,
      .draw_words = draw_words,
      .spread = spread,
      .collect = collect,
      .affine = affine,
      .extent = extent,
      .quantize = quantize,
      .pack8 = pack_fields<std::uint8_t>,
      .unpack8 = unpack_fields<std::uint8_t>,
      .unpack16 = unpack_fields<std::uint16_t>,
      .unpack32 = unpack_fields<std::uint32_t>,
      .look_up_add8 = look_up_add<std::uint8_t>,
      .look_up_add16 = look_up_add<std::uint16_t>,
      .look_up_add32 = look_up_add<std::uint32_t>,
      .centre_levels = centre_levels,
      .centre8 = centre<std::uint8_t>,
      .centre16 = centre<std::uint16_t>,
      .centre32 = centre<std::uint32_t>,
  };
  return kKernels;
}

}  // namespace tributary::thc
