// The SIMD version of kernels_scalar.cc. Highway compiles this file once per instruction set and
// selects the best at run time. Whole vectors are processed here. The remaining bytes of a range
// use the functions that the scalar version uses.
#include <algorithm>
#include <bit>

#include "core/codec/threelc/elements.h"
#include "core/codec/threelc/kernels.h"
#include "core/codec/threelc/zero_run.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/codec/threelc/kernels_simd.cc"
#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/highway.h>

#include "core/codec/simd/random-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tributary::threelc::HWY_NAMESPACE {

#if HWY_TARGET == HWY_SCALAR

// Without vectors the specification itself serves; the loops over 64 bytes need more than one lane.
const Kernels* kernel_table() { return &scalar_kernels(); }

#else

namespace {

namespace hn = hwy::HWY_NAMESPACE;

using Float = hn::ScalableTag<float>;
using Int32 = hn::RebindToSigned<Float>;
using Uint32 = hn::RebindToUnsigned<Float>;
using ByteQuarter = hn::Rebind<std::uint8_t, Float>;
using FloatVec = hn::Vec<Float>;
using IntVec = hn::Vec<Int32>;
using UintVec = hn::Vec<Uint32>;

// 64 bytes are examined together, as one bit each in a word.
using Byte = hn::CappedTag<std::uint8_t, 64>;
using ByteVec = hn::Vec<Byte>;
constexpr std::size_t kWordBytes = 64;

// Magnitudes have no sign bit, so a signed maximum orders them; every instruction set has a signed
// maximum.
IntVec magnitudes(FloatVec x) {
  const Int32 di;
  return hn::And(hn::BitCast(di, x), hn::Set(di, static_cast<std::int32_t>(kMagnitudeMask)));
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
  auto largest =
      static_cast<std::uint32_t>(hn::GetLane(hn::MaxOfLanes(Int32(), hn::Max(first, second))));
  for (; i < n; ++i) largest = std::max(largest, magnitude_bits(x[i]));
  return largest;
}

// A square of a float is exact in a double, so only the order of the additions matters. It is that
// of the scalar code for any number of lanes that divides kSquareLanes.
double sum_of_squares(const float* HWY_RESTRICT x, std::size_t n) {
  const hn::CappedTag<double, kSquareLanes> d;
  const hn::Rebind<float, decltype(d)> df;
  const std::size_t lanes = hn::Lanes(d);
  HWY_ALIGN double sums[kSquareLanes] = {};
  std::size_t i = 0;
  for (; i + kSquareLanes <= n; i += kSquareLanes) {
    for (std::size_t k = 0; k < kSquareLanes; k += lanes) {
      const auto value = hn::PromoteTo(d, hn::LoadU(df, x + i + k));
      hn::StoreU(hn::Add(hn::LoadU(d, sums + k), hn::Mul(value, value)), d, sums + k);
    }
  }
  return finish_sum_of_squares(x, i, n, sums);
}

// The level that decides digits: the same for all values, or drawn for each value.
struct NearestLevel {
  float level;

  FloatVec of_vector(std::size_t /*index*/) const { return hn::Set(Float(), level); }
  float of_one(std::size_t /*index*/) const { return level; }
};

struct RandomLevel {
  float unit;
  StreamKey key;
  std::uint32_t first_element;

  FloatVec of_vector(std::size_t index) const {
    const Uint32 du;
    const Float df;
    const UintVec start = tributary::HWY_NAMESPACE::draw_position(du, key, first_element);
    const auto steps = static_cast<std::uint32_t>(index) * kWeylStep;
    const UintVec bits =
        tributary::HWY_NAMESPACE::draw_bits(du, key, hn::Add(start, hn::Set(du, steps)));
    const FloatVec bits24 = hn::ConvertTo(df, hn::BitCast(Int32(), hn::ShiftRight<8>(bits)));
    return hn::Mul(hn::Mul(bits24, hn::Set(df, 0x1p-24f)), hn::Set(df, unit));
  }
  float of_one(std::size_t index) const {
    const auto element = first_element + static_cast<std::uint32_t>(index);
    return random_level(unit, random_bits(key, element));
  }
};

// The digits of a byte are in stripes that lie far apart, so a vector has one digit of each of its
// bytes; see packing.h.
template <class P, class Level>
void pack(const float* HWY_RESTRICT x, const PackedRange& range, const Level& level,
          std::uint8_t* HWY_RESTRICT out) {
  const Float df;
  const Int32 di;
  const std::size_t lanes = hn::Lanes(df);
  const std::size_t stripe = P::bytes(range.count);
  const std::size_t full = end_of_full_bytes<P>(range);
  std::size_t at = range.begin;
  for (; at + lanes <= full; at += lanes) {
    IntVec bytes = hn::Set(di, P::kZeroByte);
    for (std::size_t j = 0, index = at; j < P::kDigits; ++j, index += stripe) {
      const FloatVec value = hn::LoadU(df, x + index);
      const FloatVec upper = level.of_vector(index);
      const IntVec weight = hn::Set(di, P::kWeights[j]);
      const auto above = hn::RebindMask(di, hn::Gt(value, upper));
      const auto below = hn::RebindMask(di, hn::Lt(value, hn::Neg(upper)));
      bytes = hn::Add(bytes, hn::IfThenElseZero(above, weight));
      bytes = hn::Sub(bytes, hn::IfThenElseZero(below, weight));
    }
    hn::StoreU(hn::DemoteTo(ByteQuarter(), bytes), ByteQuarter(), out + (at - range.begin));
  }
  for (; at < range.end; ++at) {
    out[at - range.begin] = pack_byte<P>(range.count, at, [&](std::size_t index) {
      return digit_of(x[index], level.of_one(index));
    });
  }
}

void pack_nearest(const float* x, const PackedRange& range, float level, std::uint8_t* out) {
  pack<Quartic>(x, range, NearestLevel{level}, out);
}

template <class P>
void pack_random(const float* x, const PackedRange& range, float unit, StreamKey key,
                 std::uint32_t first_element, std::uint8_t* out) {
  pack<P>(x, range, RandomLevel{unit, key, first_element}, out);
}

// The use of a decoded value: it is stored, or added to a sum.
struct Store {
  static constexpr bool kSkipsZeros = false;
  static void vector(FloatVec negated, float* x) {
    hn::StoreU(hn::Sub(hn::Zero(Float()), negated), Float(), x);
  }
  static void one(float negated, float& x) { x = 0.0f - negated; }
};

struct Add {
  static constexpr bool kSkipsZeros = true;
  static void vector(FloatVec negated, float* sum) {
    hn::StoreU(hn::Sub(hn::LoadU(Float(), sum), negated), Float(), sum);
  }
  static void one(float negated, float& sum) { sum -= negated; }
};

// Extracts the digits from the highest weight down. A digit is nonzero if the rest exceeds the
// maximum of all lower digits.
template <class P, class Use>
void unpack_to(const std::uint8_t* HWY_RESTRICT in, const PackedRange& range, float unit,
               float* HWY_RESTRICT x) {
  const Float df;
  const Int32 di;
  const std::size_t lanes = hn::Lanes(df);
  const std::size_t stripe = P::bytes(range.count);
  const std::size_t full = end_of_full_bytes<P>(range);
  const FloatVec plus = hn::Set(df, unit);
  const FloatVec minus = hn::Neg(plus);
  std::size_t at = range.begin;
  for (; at + lanes <= full; at += lanes) {
    const auto bytes = hn::LoadU(ByteQuarter(), in + (at - range.begin));
    IntVec rest = hn::Sub(hn::PromoteTo(di, bytes), hn::Set(di, P::kZeroByte));
    if (Use::kSkipsZeros && hn::AllTrue(di, hn::Eq(rest, hn::Zero(di)))) continue;
    for (std::size_t j = 0, index = at; j < P::kDigits; ++j, index += stripe) {
      const IntVec weight = hn::Set(di, P::kWeights[j]);
      const auto above = hn::Gt(rest, hn::Set(di, P::kRests[j]));
      const auto below = hn::Lt(rest, hn::Set(di, -P::kRests[j]));
      rest = hn::Sub(rest, hn::IfThenElseZero(above, weight));
      rest = hn::Add(rest, hn::IfThenElseZero(below, weight));
      Use::vector(hn::IfThenElse(hn::RebindMask(df, above), minus,
                                 hn::IfThenElseZero(hn::RebindMask(df, below), plus)),
                  x + index);
    }
  }
  for (; at < range.end; ++at) {
    unpack_byte<P>(in[at - range.begin], range.count, at, [&](std::size_t index, int digit) {
      Use::one(negated_value(digit, unit), x[index]);
    });
  }
}

template <class P>
constexpr PackingKernels kPackingKernels = {
    .pack_random = pack_random<P>, .unpack = unpack_to<P, Store>, .unpack_add = unpack_to<P, Add>};

// Bit i is set if in[i] is the zero byte, for i < 64.
std::uint64_t zero_bytes(const std::uint8_t* in) {
  const Byte d;
  static_assert(kWordBytes % hn::MaxLanes(d) == 0 && hn::MaxLanes(d) >= 8);
  const std::size_t lanes = hn::Lanes(d);
  const ByteVec zero = hn::Set(d, kZeroByte);
  std::uint8_t bits[kWordBytes / 8];
  for (std::size_t i = 0; i < kWordBytes; i += lanes) {
    hn::StoreMaskBits(d, hn::Eq(hn::LoadU(d, in + i), zero), bits + i / 8);
  }
  std::uint64_t word;
  std::memcpy(&word, bits, sizeof(word));
  return word;
}

std::size_t zero_run_encode(const std::uint8_t* HWY_RESTRICT in, std::size_t n,
                            std::uint8_t* HWY_RESTRICT out) {
  ZeroRunWriter writer(in, out);
  std::size_t at = 0;
  for (; at + kWordBytes <= n; at += kWordBytes) writer.add_word(at, zero_bytes(in + at));
  for (; at < n; ++at) writer.add_byte(at);
  return static_cast<std::size_t>(writer.finish(n) - out);
}

std::size_t zero_run_decoded_bytes(const std::uint8_t* HWY_RESTRICT in, std::size_t n) {
  const Byte d;
  const hn::Repartition<std::uint64_t, Byte> d64;
  const std::size_t lanes = hn::Lanes(d);
  // A run of k is coded as 242 + (k - 1).
  const ByteVec one_less = hn::Set(d, kFirstRunByte - 1);
  auto sums = hn::Zero(d64);
  std::size_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    sums = hn::Add(sums, hn::SumsOf8(hn::SaturatedSub(hn::LoadU(d, in + i), one_less)));
  }
  std::size_t total = i + static_cast<std::size_t>(hn::GetLane(hn::SumOfLanes(d64, sums)));
  for (; i < n; ++i) total += run_length(in[i]);
  return total;
}

// Every byte is written 16 times, and the next one begins where its run ends. The lengths of runs
// therefore decide no branch.
void zero_run_decode(const std::uint8_t* HWY_RESTRICT in, std::size_t n,
                     std::uint8_t* HWY_RESTRICT out) {
  const hn::FixedTag<std::uint8_t, 16> d;
  constexpr std::size_t kLanes = 16;
  static_assert(kRunMax <= kLanes && kLanes <= kDecodeSlackBytes);
  const auto one = hn::Set(d, 1);
  const auto zero = hn::Set(d, kZeroByte);
  const auto last_plain = hn::Set(d, kFirstRunByte - 1);
  std::uint8_t values[kLanes];
  std::uint8_t lengths[kLanes];
  std::size_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    const auto bytes = hn::LoadU(d, in + i);
    const auto more = hn::SaturatedSub(bytes, last_plain);  // length minus one
    const auto plain = hn::Eq(more, hn::Zero(d));
    if (hn::AllTrue(d, plain)) {
      hn::StoreU(bytes, d, out);
      out += kLanes;
      continue;
    }
    hn::StoreU(hn::IfThenElse(plain, bytes, zero), d, values);
    hn::StoreU(hn::Add(more, one), d, lengths);
    for (std::size_t k = 0; k < kLanes; ++k) {
      hn::StoreU(hn::Set(d, values[k]), d, out);
      out += lengths[k];
    }
  }
  for (; i < n; ++i) {
    hn::StoreU(hn::Set(d, in[i] < kFirstRunByte ? in[i] : kZeroByte), d, out);
    out += run_length(in[i]);
  }
}

bool two_bit_valid(const std::uint8_t* HWY_RESTRICT in, std::size_t n) {
  const Byte d;
  const hn::Repartition<std::uint32_t, Byte> d32;
  const std::size_t lanes = hn::Lanes(d);
  auto threes = hn::Zero(d32);
  std::size_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    const auto bits = hn::BitCast(d32, hn::LoadU(d, in + i));
    threes = hn::Or(threes, hn::And(bits, hn::ShiftRight<1>(bits)));
  }
  threes = hn::And(threes, hn::Set(d32, 0x55555555u));
  bool valid = hn::AllTrue(d32, hn::Eq(threes, hn::Zero(d32)));
  for (; i < n; ++i) valid = valid && (in[i] & (in[i] >> 1) & 0b01010101u) == 0;
  return valid;
}

}  // namespace

// Highway can export only functions, so each instruction set exports one that returns its table.
const Kernels* kernel_table() {
  static constexpr Kernels kKernels = {
      .largest_magnitude = largest_magnitude,
      .sum_of_squares = sum_of_squares,
      .pack_nearest = pack_nearest,
      .quartic = kPackingKernels<Quartic>,
      .two_bit = kPackingKernels<TwoBit>,
      .zero_run_encode = zero_run_encode,
      .zero_run_decoded_bytes = zero_run_decoded_bytes,
      .zero_run_decode = zero_run_decode,
      .two_bit_valid = two_bit_valid,
  };
  return &kKernels;
}

#endif  // HWY_TARGET == HWY_SCALAR

}  // namespace tributary::threelc::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tributary::threelc {

HWY_EXPORT(kernel_table);
const Kernels& simd_kernels() { return *HWY_DYNAMIC_DISPATCH(kernel_table)(); }

}  // namespace tributary::threelc
#endif
