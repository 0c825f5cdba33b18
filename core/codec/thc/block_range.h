// The range of a block's coordinates, on which the grid of levels lies, and its place among the
// numbers of stage 0. The coordinates are the rotated values or, with rotation=off, the values.
//
//   range=norm    one number, the rms:               [-t rms, t rms]
//   range=minmax  two numbers, low and high, both    [-low, high]
//                 not below 0
//
// Positions on the grid are in units of its steps, and g is the granularity. The functions are pure
// and have the same bits on every machine.
#pragma once

#include "core/codec/thc/elements.h"

namespace tributary::thc {

// Half the width is `half` times the threshold. The centre is in units of half the width.
struct BlockRange {
  float half;
  float centre;     // 0 for range=norm
  float threshold;  // t for range=norm, else 1

  // `numbers` are those of the block, from stage 0. `table_threshold` is that of its table.
  TRIBUTARY_HD static BlockRange of(bool minmax, float table_threshold, const float* numbers) {
    if (!minmax) return {numbers[0], 0.0f, table_threshold};
    const float half = 0.5f * numbers[1] + 0.5f * numbers[0];
    if (half < kRmsMin) return {0.0f, 0.0f, 1.0f};
    return {half, (0.5f * numbers[1] - 0.5f * numbers[0]) / half, 1.0f};
  }

  // Such a block decodes to zeros.
  TRIBUTARY_HD bool is_zero() const { return half < kRmsMin; }

  // The factors of the rotation. Without rotation, `block` is 1.
  TRIBUTARY_HD float encode_factor(float granularity, std::size_t block) const {
    return spread_scale(granularity, threshold, block) / half;
  }
  TRIBUTARY_HD float decode_factor(float granularity, std::size_t block) const {
    return collect_factor(granularity, threshold, half, block);
  }
  // The same from spread_scale() and collect_divisor() of the block's table and size.
  TRIBUTARY_HD float encode_factor(float scale) const { return scale / half; }
  TRIBUTARY_HD float decode_factor(float divisor) const { return half / divisor * threshold; }

  // Distance of the centre from 0 in half steps of the grid, for a sum of `contributors`.
  TRIBUTARY_HD float centre_half_steps(float granularity, std::uint32_t contributors) const {
    return centre * granularity * static_cast<float>(contributors);
  }
};

}  // namespace tributary::thc
