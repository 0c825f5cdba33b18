// The SIMD version of kernels_scalar.cc. Highway compiles this file once per instruction set and
// selects the best at run time. Whole vectors are processed here. The remaining values of a loop
// use the element functions that the scalar version uses.
#include <algorithm>

#include "core/codec/quantize/elements.h"
#include "core/codec/quantize/kernels.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/codec/quantize/kernels_simd.cc"
#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/highway.h>

#include "core/codec/simd/random-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tributary::quantize::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

using Float = hn::ScalableTag<float>;
using Int32 = hn::RebindToSigned<Float>;
using Uint32 = hn::RebindToUnsigned<Float>;
using Uint16Half = hn::Rebind<std::uint16_t, Float>;
using Int16Half = hn::Rebind<std::int16_t, Float>;
using Int8Quarter = hn::Rebind<std::int8_t, Float>;
using FloatVec = hn::Vec<Float>;
using IntVec = hn::Vec<Int32>;
using UintVec = hn::Vec<Uint32>;

// Magnitudes have no sign bit, so a signed maximum orders them; every instruction set has a signed
// maximum.
IntVec magnitudes(FloatVec x) {
  const Int32 di;
  return hn::And(hn::BitCast(di, x), hn::Set(di, static_cast<std::int32_t>(kMagnitudeMask)));
}

std::uint32_t largest_lane(IntVec magnitude) {
  return static_cast<std::uint32_t>(hn::GetLane(hn::MaxOfLanes(Int32(), magnitude)));
}

std::uint32_t largest_magnitude(const float* HWY_RESTRICT x, std::size_t n) {
  const Float df;
  const std::size_t lanes = hn::Lanes(df);
  IntVec first = hn::Zero(Int32());
  IntVec second = first;  // two independent chains hide the latency of the maximum
  std::size_t i = 0;
  for (; i + 2 * lanes <= n; i += 2 * lanes) {
    first = hn::Max(first, magnitudes(hn::LoadU(df, x + i)));
    second = hn::Max(second, magnitudes(hn::LoadU(df, x + i + lanes)));
  }
  std::uint32_t largest = largest_lane(hn::Max(first, second));
  for (; i < n; ++i) largest = std::max(largest, magnitude_bits(x[i]));
  return largest;
}

// Returns the low 16 bits of every lane. They are sign-extended first, so that the signed pack does
// not saturate; every instruction set has a signed pack.
hn::Vec<Uint16Half> pack16(IntVec low16) {
  const IntVec extended = hn::ShiftRight<16>(hn::ShiftLeft<16>(low16));
  return hn::BitCast(Uint16Half(), hn::DemoteTo(Int16Half(), extended));
}

// Does the same for 16-bit floats that are given as magnitudes, and takes the signs from x.
hn::Vec<Uint16Half> pack_float16(FloatVec x, IntVec magnitude16) {
  const Uint32 du;
  const UintVec sign = hn::ShiftLeft<15>(hn::ShiftRight<31>(hn::BitCast(du, x)));
  return pack16(hn::Or(magnitude16, hn::BitCast(Int32(), sign)));
}

struct HalfFormat {
  static std::uint16_t encode_one(float x) { return half_of(x); }
  static float decode_one(std::uint16_t half) { return float_of_half(half); }

// F16C and Arm round to nearest even in hardware, as half_of() does. Other targets compute it here.
#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX3_DL || \
    HWY_ARCH_ARM_A64
  using Packed = hn::Rebind<hwy::float16_t, Float>;

  static hn::Vec<Uint16Half> encode(FloatVec x, IntVec) {
    const Float df;
    // The hardware conversion would round larger values to infinity.
    const FloatVec finite = hn::Max(hn::Min(x, hn::Set(df, 65504.0f)), hn::Set(df, -65504.0f));
    return hn::BitCast(Uint16Half(), hn::DemoteTo(Packed(), finite));
  }
  static FloatVec decode(hn::Vec<Uint16Half> half) {
    return hn::PromoteTo(Float(), hn::BitCast(Packed(), half));
  }
#else
  static hn::Vec<Uint16Half> encode(FloatVec x, IntVec magnitude) {
    const Float df;
    const Int32 di;
    const IntVec odd = hn::And(hn::ShiftRight<13>(magnitude), hn::Set(di, 1));
    const IntVec normal =
        hn::ShiftRight<13>(hn::Add(magnitude, hn::Add(odd, hn::Set(di, 0xfff - 0x38000000))));
    const FloatVec unit = hn::Set(df, 0.5f);
    const IntVec denormal =
        hn::Sub(hn::BitCast(di, hn::Add(hn::BitCast(df, magnitude), unit)), hn::BitCast(di, unit));
    IntVec half = hn::IfThenElse(hn::Lt(magnitude, hn::Set(di, 0x38800000)), denormal, normal);
    half = hn::IfThenElse(hn::Gt(magnitude, hn::Set(di, 0x477fefff)), hn::Set(di, 0x7bff), half);
    return pack_float16(x, half);
  }
  static FloatVec decode(hn::Vec<Uint16Half> half) {
    const Float df;
    const Uint32 du;
    const UintVec wide = hn::PromoteTo(du, half);
    const UintVec shifted = hn::ShiftLeft<13>(hn::And(wide, hn::Set(du, 0x7fffu)));
    const FloatVec magnitude = hn::Mul(hn::BitCast(df, shifted), hn::Set(df, 0x1p112f));
    const UintVec sign = hn::ShiftLeft<16>(hn::And(wide, hn::Set(du, 0x8000u)));
    return hn::BitCast(df, hn::Or(hn::BitCast(du, magnitude), sign));
  }
#endif
};

struct BfloatFormat {
  static std::uint16_t encode_one(float x) { return bfloat_of(x); }
  static float decode_one(std::uint16_t bfloat) { return float_of_bfloat(bfloat); }

  static hn::Vec<Uint16Half> encode(FloatVec x, IntVec magnitude) {
    const Int32 di;
    const IntVec odd = hn::And(hn::ShiftRight<16>(magnitude), hn::Set(di, 1));
    const IntVec unbounded = hn::Add(magnitude, hn::Add(odd, hn::Set(di, 0x7fff)));
    // The addition may overflow for NaN; the caller refuses the whole bucket in that case.
    return pack_float16(x, hn::Min(hn::ShiftRight<16>(unbounded), hn::Set(di, 0x7f7f)));
  }
  static FloatVec decode(hn::Vec<Uint16Half> bfloat) {
    return hn::BitCast(Float(), hn::ShiftLeft<16>(hn::PromoteTo(Uint32(), bfloat)));
  }
};

template <typename Format>
std::uint32_t to_16_bits(const float* HWY_RESTRICT x, std::size_t n,
                         std::uint16_t* HWY_RESTRICT out) {
  const Float df;
  const std::size_t lanes = hn::Lanes(df);
  IntVec largest = hn::Zero(Int32());
  std::size_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    const FloatVec value = hn::LoadU(df, x + i);
    const IntVec magnitude = magnitudes(value);
    largest = hn::Max(largest, magnitude);
    hn::StoreU(Format::encode(value, magnitude), Uint16Half(), out + i);
  }
  std::uint32_t result = largest_lane(largest);
  for (; i < n; ++i) {
    result = std::max(result, magnitude_bits(x[i]));
    out[i] = Format::encode_one(x[i]);
  }
  return result;
}

template <typename Format>
std::uint32_t from_16_bits(const std::uint16_t* HWY_RESTRICT in, std::size_t n,
                           float* HWY_RESTRICT x) {
  const Float df;
  const Uint32 du;
  const std::size_t lanes = hn::Lanes(df);
  IntVec largest = hn::Zero(Int32());
  std::size_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    const auto packed = hn::LoadU(Uint16Half(), in + i);
    const UintVec magnitude = hn::And(hn::PromoteTo(du, packed), hn::Set(du, 0x7fffu));
    largest = hn::Max(largest, hn::BitCast(Int32(), magnitude));
    hn::StoreU(Format::decode(packed), df, x + i);
  }
  std::uint32_t result = largest_lane(largest);
  for (; i < n; ++i) {
    result = std::max<std::uint32_t>(result, in[i] & 0x7fffu);
    x[i] = Format::decode_one(in[i]);
  }
  return result;
}

FloatVec clamp_levels(FloatVec levels) {
  const Float df;
  return hn::Min(hn::Max(levels, hn::Set(df, -kLevels)), hn::Set(df, kLevels));
}

// Levels are within ±127, so the saturating conversion does not change them.
void store_levels(IntVec levels, std::int8_t* out) {
  hn::StoreU(hn::DemoteTo(Int8Quarter(), levels), Int8Quarter(), out);
}

void to_nearest_levels(const float* HWY_RESTRICT x, std::size_t n, float levels_per_unit,
                       std::int8_t* HWY_RESTRICT levels) {
  const Float df;
  const std::size_t lanes = hn::Lanes(df);
  const FloatVec factor = hn::Set(df, levels_per_unit);
  std::size_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    const FloatVec level = clamp_levels(hn::Mul(hn::LoadU(df, x + i), factor));
    store_levels(hn::NearestInt(level), levels + i);
  }
  for (; i < n; ++i) levels[i] = nearest_level(x[i], levels_per_unit);
}

void to_random_levels(const float* HWY_RESTRICT x, std::size_t n, float levels_per_unit,
                      StreamKey key, std::uint32_t first_element,
                      std::int8_t* HWY_RESTRICT levels) {
  const Float df;
  const Uint32 du;
  const Int32 di;
  const std::size_t lanes = hn::Lanes(df);
  const FloatVec factor = hn::Set(df, levels_per_unit);
  // uniform_01() uses the upper 24 bits of a draw, which float32 represents exactly.
  const FloatVec unit = hn::Set(df, 0x1p-24f);
  UintVec position = tributary::HWY_NAMESPACE::draw_position(du, key, first_element);
  std::size_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    const IntVec bits24 =
        hn::BitCast(di, hn::ShiftRight<8>(tributary::HWY_NAMESPACE::draw_bits(du, key, position)));
    const FloatVec uniform = hn::Mul(hn::ConvertTo(df, bits24), unit);
    const FloatVec level = clamp_levels(hn::Mul(hn::LoadU(df, x + i), factor));
    const FloatVec rounded = clamp_levels(hn::Floor(hn::Add(level, uniform)));
    store_levels(hn::ConvertTo(di, rounded), levels + i);
    position = hn::Add(position, tributary::HWY_NAMESPACE::draw_stride(du));
  }
  for (; i < n; ++i) {
    const auto element = first_element + static_cast<std::uint32_t>(i);
    levels[i] = random_level(x[i], levels_per_unit, random_bits(key, element));
  }
}

template <typename Level>
IntVec load_levels(const Level* levels) {
  const hn::Rebind<Level, Float> dl;
  if constexpr (sizeof(Level) == sizeof(std::int32_t)) {
    return hn::LoadU(dl, levels);
  } else {
    return hn::PromoteTo(Int32(), hn::LoadU(dl, levels));
  }
}

template <typename Level>
void from_levels(const Level* HWY_RESTRICT levels, std::size_t n, float step,
                 float* HWY_RESTRICT x) {
  const Float df;
  const std::size_t lanes = hn::Lanes(df);
  const FloatVec factor = hn::Set(df, step);
  std::size_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    const FloatVec level = hn::ConvertTo(df, load_levels(levels + i));
    hn::StoreU(hn::Mul(level, factor), df, x + i);
  }
  for (; i < n; ++i) x[i] = static_cast<float>(levels[i]) * step;
}

template <typename Level, typename Sum>
void add_levels(const Level* HWY_RESTRICT levels, std::size_t n, Sum* HWY_RESTRICT sum) {
  const hn::ScalableTag<Sum> ds;
  const hn::Rebind<Level, decltype(ds)> dl;
  const std::size_t lanes = hn::Lanes(ds);
  std::size_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    if constexpr (sizeof(Level) == sizeof(Sum)) {
      hn::StoreU(hn::Add(hn::LoadU(ds, sum + i), hn::LoadU(ds, levels + i)), ds, sum + i);
    } else {
      const auto wide = hn::PromoteTo(ds, hn::LoadU(dl, levels + i));
      hn::StoreU(hn::Add(hn::LoadU(ds, sum + i), wide), ds, sum + i);
    }
  }
  for (; i < n; ++i) sum[i] = static_cast<Sum>(sum[i] + levels[i]);
}

// No HWY_RESTRICT, because `sum` may be equal to `a` or `b`.
void add_floats(const float* a, const float* b, std::size_t n, float* sum) {
  const Float df;
  const std::size_t lanes = hn::Lanes(df);
  std::size_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    hn::StoreU(hn::Add(hn::LoadU(df, a + i), hn::LoadU(df, b + i)), df, sum + i);
  }
  for (; i < n; ++i) sum[i] = a[i] + b[i];
}

}  // namespace

// Highway can export only functions, so each instruction set exports one that returns its table.
const Kernels* kernel_table() {
  static constexpr Kernels kKernels = {
      .largest_magnitude = largest_magnitude,
      .to_half = to_16_bits<HalfFormat>,
      .to_bfloat = to_16_bits<BfloatFormat>,
      .from_half = from_16_bits<HalfFormat>,
      .from_bfloat = from_16_bits<BfloatFormat>,
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
  return &kKernels;
}

}  // namespace tributary::quantize::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tributary::quantize {

HWY_EXPORT(kernel_table);
const Kernels& simd_kernels() { return *HWY_DYNAMIC_DISPATCH(kernel_table)(); }

}  // namespace tributary::quantize
#endif
