// The SIMD version of kernels_scalar.cc. Highway compiles this file once per instruction set and
// selects the best at run time. Whole vectors are processed here. The remaining values of a loop
// use the element functions that the scalar version uses.
#include <algorithm>

#include "core/codec/sparse/elements.h"
#include "core/codec/sparse/kernels.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/codec/sparse/kernels_simd.cc"
#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace tributary::sparse::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

using Float = hn::ScalableTag<float>;
using Int32 = hn::RebindToSigned<Float>;
using Uint32 = hn::RebindToUnsigned<Float>;
using FloatVec = hn::Vec<Float>;
using IntVec = hn::Vec<Int32>;

// Magnitudes have no sign bit, so signed comparisons order them; every instruction set has signed
// comparisons.
IntVec magnitudes_at(const float* x) {
  const Int32 di;
  return hn::And(hn::BitCast(di, hn::LoadU(Float(), x)),
                 hn::Set(di, static_cast<std::int32_t>(kMagnitudeMask)));
}

std::uint32_t largest_lane(IntVec magnitude) {
  return static_cast<std::uint32_t>(hn::GetLane(hn::MaxOfLanes(Int32(), magnitude)));
}

std::uint32_t largest_magnitude(const float* HWY_RESTRICT x, std::size_t n) {
  const std::size_t lanes = hn::Lanes(Float());
  IntVec first = hn::Zero(Int32());
  IntVec second = first;  // two independent chains hide the latency of the maximum
  std::size_t i = 0;
  for (; i + 2 * lanes <= n; i += 2 * lanes) {
    first = hn::Max(first, magnitudes_at(x + i));
    second = hn::Max(second, magnitudes_at(x + i + lanes));
  }
  std::uint32_t largest = largest_lane(hn::Max(first, second));
  for (; i < n; ++i) largest = std::max(largest, magnitude_bits(x[i]));
  return largest;
}

// The magnitude that a value must exceed to reach the threshold. magnitude_min must be at most
// kMagnitudeMask; a larger one would compare as a negative number.
IntVec just_below(std::uint32_t magnitude_min) {
  return hn::Set(Int32(), static_cast<std::int32_t>(magnitude_min) - 1);
}

std::size_t count_at_least(const float* HWY_RESTRICT x, std::size_t n,
                           std::uint32_t magnitude_min) {
  if (magnitude_min > kMagnitudeMask) return 0;
  const Int32 di;
  const std::size_t lanes = hn::Lanes(di);
  const IntVec below = just_below(magnitude_min);
  std::size_t count = 0;
  std::size_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    count += hn::CountTrue(di, hn::Gt(magnitudes_at(x + i), below));
  }
  for (; i < n; ++i) count += magnitude_bits(x[i]) >= magnitude_min ? 1u : 0u;
  return count;
}

// Every vector is compressed and stored as a whole, with or without hits. At the usual ratios, a
// branch would cost more in mispredictions than it saves.
Collected collect(const float* HWY_RESTRICT x, std::size_t n, std::uint32_t magnitude_min,
                  std::uint32_t first_index, std::uint32_t* HWY_RESTRICT indices) {
  const Int32 di;
  const Uint32 du;
  const std::size_t lanes = hn::Lanes(di);
  static_assert(HWY_MAX_BYTES / sizeof(float) <= kCollectSlack || HWY_HAVE_SCALABLE,
                "a whole vector is stored at the end");
  Collected all = {.count = 0, .largest = 0};
  std::size_t i = 0;
  if (magnitude_min <= kMagnitudeMask && lanes <= kCollectSlack) {
    const IntVec below = just_below(magnitude_min);
    const auto step = hn::Set(du, static_cast<std::uint32_t>(lanes));
    auto index = hn::Iota(du, first_index);
    IntVec largest = hn::Zero(di);
    for (; i + lanes <= n; i += lanes) {
      const IntVec magnitude = magnitudes_at(x + i);
      largest = hn::Max(largest, magnitude);
      const auto hit = hn::Gt(magnitude, below);
      const auto hit_index = hn::RebindMask(du, hit);
      hn::StoreU(hn::Compress(index, hit_index), du, indices + all.count);
      all.count += hn::CountTrue(di, hit);
      index = hn::Add(index, step);
    }
    all.largest = largest_lane(largest);
  }
  for (; i < n; ++i) {
    const std::uint32_t magnitude = magnitude_bits(x[i]);
    all.largest = std::max(all.largest, magnitude);
    if (magnitude < magnitude_min) continue;
    indices[all.count++] = first_index + static_cast<std::uint32_t>(i);
  }
  return all;
}

std::size_t keep_within(const float* HWY_RESTRICT x, std::size_t n, std::uint32_t magnitude_min,
                        std::uint32_t magnitude_end, float* HWY_RESTRICT out) {
  const Float df;
  const std::size_t lanes = hn::Lanes(df);
  std::size_t count = 0;
  std::size_t i = 0;
  if (std::max(magnitude_min, magnitude_end) <= kMagnitudeMask && lanes <= kCollectSlack) {
    const IntVec below = just_below(magnitude_min);
    const IntVec last = just_below(magnitude_end);
    for (; i + lanes <= n; i += lanes) {
      const IntVec magnitude = magnitudes_at(x + i);
      const auto within = hn::AndNot(hn::Gt(magnitude, last), hn::Gt(magnitude, below));
      const auto lanes_within = hn::RebindMask(df, within);
      hn::StoreU(hn::Compress(hn::LoadU(df, x + i), lanes_within), df, out + count);
      count += hn::CountTrue(df, lanes_within);
    }
  }
  for (; i < n; ++i) {
    const std::uint32_t magnitude = magnitude_bits(x[i]);
    if (magnitude >= magnitude_min && magnitude < magnitude_end) out[count++] = x[i];
  }
  return count;
}

void add_floats(const float* HWY_RESTRICT x, std::size_t n, float* HWY_RESTRICT sum) {
  const Float df;
  const std::size_t lanes = hn::Lanes(df);
  std::size_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    hn::StoreU(hn::Add(hn::LoadU(df, sum + i), hn::LoadU(df, x + i)), df, sum + i);
  }
  for (; i < n; ++i) sum[i] += x[i];
}

FloatVec saturated_lanes(FloatVec x) {
  const Float df;
  const FloatVec max = hn::Set(df, std::numeric_limits<float>::max());
  return hn::Min(hn::Max(x, hn::Neg(max)), max);
}

void correct_momentum(const float* HWY_RESTRICT x, std::size_t n, float momentum,
                      float* HWY_RESTRICT velocity, float* HWY_RESTRICT accumulated) {
  const Float df;
  const std::size_t lanes = hn::Lanes(df);
  const FloatVec factor = hn::Set(df, momentum);
  std::size_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    const FloatVec decayed = hn::Mul(factor, hn::LoadU(df, velocity + i));
    const FloatVec u = saturated_lanes(hn::Add(decayed, hn::LoadU(df, x + i)));
    hn::StoreU(u, df, velocity + i);
    hn::StoreU(saturated_lanes(hn::Add(hn::LoadU(df, accumulated + i), u)), df, accumulated + i);
  }
  for (; i < n; ++i) {
    const Momentum after = corrected(x[i], momentum, {velocity[i], accumulated[i]});
    velocity[i] = after.velocity;
    accumulated[i] = after.accumulated;
  }
}

}  // namespace

// Highway can export only functions, so each instruction set exports one that returns its table.
const Kernels* kernel_table() {
  static constexpr Kernels kKernels = {
      .largest_magnitude = largest_magnitude,
      .count_at_least = count_at_least,
      .collect = collect,
      .keep_within = keep_within,
      .add_floats = add_floats,
      .correct_momentum = correct_momentum,
  };
  return &kKernels;
}

}  // namespace tributary::sparse::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tributary::sparse {

HWY_EXPORT(kernel_table);
const Kernels& simd_kernels() { return *HWY_DYNAMIC_DISPATCH(kernel_table)(); }

}  // namespace tributary::sparse
#endif
