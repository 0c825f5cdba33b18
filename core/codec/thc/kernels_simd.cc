// The SIMD version of kernels_scalar.cc. Highway compiles this file once per instruction set and
// selects the best at run time. Vectors have at most 16 lanes, so that a block consists of whole
// vectors.
#include <algorithm>

#include "core/codec/thc/kernels.h"
#include "core/codec/thc/packing.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/codec/thc/kernels_simd.cc"
#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/highway.h>

#include "core/codec/simd/random-inl.h"
#include "core/codec/thc/hadamard-inl.h"
#include "core/codec/thc/host/packing-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tributary::thc::HWY_NAMESPACE {

// A machine without vectors uses the specification itself.
#if HWY_TARGET == HWY_SCALAR
const Kernels* kernel_table() { return &scalar_kernels(); }
#else
namespace {

using tributary::HWY_NAMESPACE::draw_bits;
using tributary::HWY_NAMESPACE::draw_position;
using tributary::HWY_NAMESPACE::draw_stride;

using Uint8Quarter = hn::Rebind<std::uint8_t, Float>;
using Uint16Half = hn::Rebind<std::uint16_t, Float>;

void add_square(const float* HWY_RESTRICT x, FloatVec scale, FloatVec& sum, IntVec& largest) {
  const FloatVec value = hn::LoadU(Float(), x);
  const FloatVec scaled = hn::Mul(value, scale);
  sum = hn::Add(sum, hn::Mul(scaled, scaled));
  largest = hn::Max(largest, magnitudes(value));
}

// The sum of a vector's lanes as a tree, the upper half to the lower half.
#if !HWY_HAVE_SCALABLE
template <class D>
HWY_INLINE float tree_sum(D d, hn::Vec<D> v) {
  if constexpr (hn::MaxLanes(d) > 4) {
    const hn::Half<D> half;
    return tree_sum(half, hn::Add(hn::LowerHalf(half, v), hn::UpperHalf(half, v)));
  } else {
    v = hn::Add(v, hn::Shuffle1032(v));
    return hn::GetLane(hn::Add(v, hn::Shuffle2301(v)));
  }
}
#else
template <class D>
float tree_sum(D d, hn::Vec<D> v) {
  alignas(64) float sums[16];
  hn::Store(v, d, sums);
  for (std::size_t half = hn::Lanes(d) / 2; half > 0; half /= 2) {
    for (std::size_t lane = 0; lane < half; ++lane) sums[lane] += sums[lane + half];
  }
  return sums[0];
}
#endif

// kSquareLanes sums, in as many vectors as they need. The vectors are named variables, because some
// machines' vectors have no fixed size and cannot be elements of an array.
std::uint32_t sum_squares(const float* HWY_RESTRICT x, std::size_t n, float scale, float* sum) {
  const Float df;
  const std::size_t lanes = hn::Lanes(df);
  const FloatVec factor = hn::Set(df, scale);
  FloatVec s0 = hn::Zero(df);
  FloatVec s1 = s0, s2 = s0, s3 = s0, s4 = s0, s5 = s0, s6 = s0, s7 = s0;
  IntVec first = hn::Zero(Int32());
  IntVec second = first;  // two independent chains hide the latency of the maximum
  for (std::size_t i = 0; i < n; i += kSquareLanes) {
    add_square(x + i, factor, s0, first);
    add_square(x + i + lanes, factor, s1, second);
    if (lanes > 8) continue;
    add_square(x + i + 2 * lanes, factor, s2, first);
    add_square(x + i + 3 * lanes, factor, s3, second);
    if (lanes > 4) continue;
    add_square(x + i + 4 * lanes, factor, s4, first);
    add_square(x + i + 5 * lanes, factor, s5, second);
    add_square(x + i + 6 * lanes, factor, s6, first);
    add_square(x + i + 7 * lanes, factor, s7, second);
  }
  if (lanes <= 4) {
    s0 = hn::Add(s0, s4);
    s1 = hn::Add(s1, s5);
    s2 = hn::Add(s2, s6);
    s3 = hn::Add(s3, s7);
  }
  if (lanes <= 8) {
    s0 = hn::Add(s0, s2);
    s1 = hn::Add(s1, s3);
  }
  *sum = tree_sum(df, hn::Add(s0, s1));
  return largest_lane(hn::Max(first, second));
}

std::uint32_t affine(const float* x, std::size_t n, float offset, float factor, float* y) {
  const Float df;
  const FloatVec moved = hn::Set(df, offset);
  const FloatVec by = hn::Set(df, factor);
  IntVec largest = hn::Zero(Int32());
  for (std::size_t i = 0; i < n; i += hn::Lanes(df)) {
    const FloatVec scaled = hn::Mul(hn::Add(hn::LoadU(df, x + i), moved), by);
    largest = hn::Max(largest, magnitudes(scaled));
    hn::StoreU(scaled, df, y + i);
  }
  return largest_lane(largest);
}

std::uint32_t extent(const float* HWY_RESTRICT x, std::size_t n, float* low, float* high) {
  const Float df;
  FloatVec below = hn::Zero(df);
  FloatVec above = below;
  IntVec largest = hn::Zero(Int32());
  for (std::size_t i = 0; i < n; i += hn::Lanes(df)) {
    const FloatVec value = hn::LoadU(df, x + i);
    below = hn::Max(below, hn::Neg(value));
    above = hn::Max(above, value);
    largest = hn::Max(largest, magnitudes(value));
  }
  // A maximum of 0 and -0 may be either; the addition makes it 0.
  *low = hn::GetLane(hn::MaxOfLanes(df, below)) + 0.0f;
  *high = hn::GetLane(hn::MaxOfLanes(df, above)) + 0.0f;
  return largest_lane(largest);
}

void draw_words(StreamKey key, std::uint32_t first, std::size_t n,
                std::uint32_t* HWY_RESTRICT words) {
  const Uint32 du;
  const std::size_t lanes = hn::Lanes(du);
  UintVec position = draw_position(du, key, first);
  std::size_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    hn::StoreU(draw_bits(du, key, position), du, words + i);
    position = hn::Add(position, draw_stride(du));
  }
  for (; i < n; ++i) words[i] = random_bits(key, first + static_cast<std::uint32_t>(i));
}

// Up to 16 levels on a grid of up to 128 cells fit into registers, if bytes can be shuffled across
// a whole register. Otherwise the description of the cell is loaded from memory.
#if HWY_TARGET == HWY_AVX3_DL
class RegisterLookUp {
 public:
  static bool fits(const Levels& levels) {
    return levels.bits <= 4 && levels.granularity < levels.level_of_cell.size();
  }
  explicit RegisterLookUp(const Levels& levels)
      : low_(hn::Load(Bytes(), levels.level_of_cell.data())),
        high_(hn::Load(Bytes(), levels.level_of_cell.data() + 64)),
        up_from_(hn::Load(Float(), levels.up_from_of_level.data())),
        gap_(hn::Load(Float(), levels.gap_of_level.data())) {}

  HWY_INLINE void find(FloatVec place, IntVec& level, FloatVec& up_from, FloatVec& gap) const {
    // The upper bytes of every cell are 0, and so is the level of cell 0. The intrinsic avoids the
    // handling of values outside the integer range that Highway's conversion adds; places are
    // clamped to the grid.
    const __m512i cell = _mm512_cvttps_epi32(place.raw);
    level = IntVec{_mm512_permutex2var_epi8(low_.raw, cell, high_.raw)};
    const auto index = hn::IndicesFromVec(Float(), level);
    up_from = hn::TableLookupLanes(up_from_, index);
    gap = hn::TableLookupLanes(gap_, index);
  }
  static HWY_INLINE void store(IntVec level, std::uint8_t* out) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(out), _mm512_cvtepi32_epi8(level.raw));
  }

 private:
  using Bytes = hn::Full512<std::uint8_t>;
  const hn::Vec<Bytes> low_;
  const hn::Vec<Bytes> high_;
  const FloatVec up_from_;
  const FloatVec gap_;
};
#endif

class MemoryLookUp {
 public:
  explicit MemoryLookUp(const Levels& levels)
      : cells_(reinterpret_cast<const std::int32_t*>(levels.packed_cells.data())) {}

  HWY_INLINE void find(FloatVec place, IntVec& level, FloatVec& up_from, FloatVec& gap) const {
    const Float df;
    const Int32 di;
    const IntVec packed = hn::GatherIndex(di, cells_, hn::ConvertTo(di, place));
    level = hn::And(packed, hn::Set(di, 0xff));
    const FloatVec lower =
        hn::ConvertTo(df, hn::And(hn::ShiftRight<8>(packed), hn::Set(di, 0xfff)));
    const FloatVec steps = hn::ConvertTo(df, hn::ShiftRight<20>(packed));
    up_from = hn::Add(lower, hn::Mul(steps, hn::Set(df, 0x1p-17f)));
    gap = hn::Mul(steps, hn::Set(df, 0x1p-16f));
  }
  static HWY_INLINE void store(IntVec level, std::uint8_t* out) {
    hn::StoreU(hn::DemoteTo(Uint8Quarter(), level), Uint8Quarter(), out);
  }

 private:
  const std::int32_t* cells_;
};

HWY_INLINE FloatVec clamp(FloatVec y, FloatVec granularity) {
  const FloatVec zero = hn::Zero(Float());
#if HWY_ARCH_X86
  const FloatVec low = hn::Max(y, zero);  // returns the second operand if the first is NaN
#else
  const FloatVec low = hn::IfThenElseZero(hn::Gt(y, zero), y);
#endif
  return hn::Min(low, granularity);
}

// Rounds a vector of coordinates. Draws are below 2^16.
template <typename LookUp>
HWY_INLINE void round_vector(const LookUp& look_up, const float* HWY_RESTRICT y, float granularity,
                             IntVec draw, std::uint8_t* HWY_RESTRICT out) {
  const Float df;
  const Int32 di;
  const FloatVec half = hn::Set(df, 0.5f * granularity);
  const FloatVec place = clamp(hn::Add(hn::LoadU(df, y), half), hn::Set(df, granularity));
  IntVec level;
  FloatVec up_from;
  FloatVec gap;
  look_up.find(place, level, up_from, gap);
  const FloatVec reach = hn::Mul(hn::ConvertTo(df, draw), gap);
  const auto up = hn::RebindMask(di, hn::Lt(reach, hn::Sub(place, up_from)));
  look_up.store(hn::Sub(level, hn::VecFromMask(di, up)), out);  // a true lane is -1
}

template <typename LookUp>
void quantize_by(const LookUp& look_up, const float* HWY_RESTRICT y, std::size_t n,
                 float granularity, const Rounding& rounding, std::uint32_t first,
                 std::uint8_t* HWY_RESTRICT out) {
  const Int32 di;
  const Uint32 du;
  const hn::Repartition<std::uint16_t, Uint32> dh;
  const std::size_t lanes = hn::Lanes(du);
  const auto flip = hn::Set(dh, rounding.flip);
  const auto shift = hn::Set(dh, rounding.shift);
  const IntVec low_half = hn::Set(di, 0xffff);
  UintVec position = draw_position(du, rounding.key, first / 2);
  for (std::size_t i = 0; i < n; i += 32) {
    for (std::size_t lane = 0; lane < 16; lane += lanes) {
      const auto draws = hn::BitCast(dh, draw_bits(du, rounding.key, position));
      const UintVec shifted = hn::BitCast(du, hn::Add(hn::Xor(draws, flip), shift));
      const IntVec low = hn::And(hn::BitCast(di, shifted), low_half);
      const IntVec high = hn::BitCast(di, hn::ShiftRight<16>(shifted));
      round_vector(look_up, y + i + lane, granularity, low, out + i + lane);
      round_vector(look_up, y + i + 16 + lane, granularity, high, out + i + 16 + lane);
      position = hn::Add(position, draw_stride(du));
    }
  }
}

void quantize(const float* HWY_RESTRICT y, std::size_t n, const Levels& levels,
              const Rounding& rounding, std::uint32_t first, std::uint8_t* HWY_RESTRICT out) {
  const auto granularity = static_cast<float>(levels.granularity);
#if HWY_TARGET == HWY_AVX3_DL
  if (RegisterLookUp::fits(levels)) {
    return quantize_by(RegisterLookUp(levels), y, n, granularity, rounding, first, out);
  }
#endif
  quantize_by(MemoryLookUp(levels), y, n, granularity, rounding, first, out);
}

using Bytes = hn::CappedTag<std::uint8_t, 64>;
using Words = hn::RepartitionToWide<Bytes>;

void pack_nibbles(const std::uint8_t* fields, std::size_t n, std::uint8_t* out) {
  const Bytes db;
  const Words dw;
  const hn::Rebind<std::uint8_t, Words> half;
  for (std::size_t i = 0; i < n; i += hn::Lanes(db)) {
    const auto pair = hn::BitCast(dw, hn::LoadU(db, fields + i));
    const auto joined = hn::And(hn::Or(pair, hn::ShiftRight<4>(pair)), hn::Set(dw, 0xff));
    hn::StoreU(hn::DemoteTo(half, hn::BitCast(hn::RebindToSigned<Words>(), joined)), half,
               out + i / 2);
  }
}

void unpack_nibbles(const std::uint8_t* HWY_RESTRICT in, std::size_t n,
                    std::uint8_t* HWY_RESTRICT fields) {
  const Bytes db;
  const Words dw;
  const hn::Rebind<std::uint8_t, Words> half;
  for (std::size_t i = 0; i < n; i += hn::Lanes(db)) {
    const auto pair = hn::PromoteTo(dw, hn::LoadU(half, in + i / 2));
    const auto split = hn::Or(pair, hn::ShiftLeft<4>(pair));
    hn::StoreU(hn::And(hn::BitCast(db, split), hn::Set(db, 0x0f)), db, fields + i);
  }
}

// Calls visit(width) with the constant of a width below 8.
template <typename Visit>
HWY_INLINE void with_width(unsigned bits, const Visit& visit) {
  switch (bits) {
    case 1:
      return visit(std::integral_constant<unsigned, 1>());
    case 2:
      return visit(std::integral_constant<unsigned, 2>());
    case 3:
      return visit(std::integral_constant<unsigned, 3>());
    case 5:
      return visit(std::integral_constant<unsigned, 5>());
    case 6:
      return visit(std::integral_constant<unsigned, 6>());
    default:
      return visit(std::integral_constant<unsigned, 7>());
  }
}

void pack8(const std::uint8_t* fields, std::size_t n, unsigned bits, std::uint8_t* out) {
  if (bits == 4) return pack_nibbles(fields, n, out);
  if (bits == 8) return pack_fields(fields, n, bits, out);
  with_width(bits, [&](auto width) { pack_bytes<width>(fields, n, out); });
}

void unpack8(const std::uint8_t* in, std::size_t n, unsigned bits, std::uint8_t* fields) {
  if (bits == 4) return unpack_nibbles(in, n, fields);
  if (bits == 8) return unpack_fields(in, n, bits, fields);
  with_width(bits, [&](auto width) { unpack_bytes<width>(in, n, fields); });
}

void unpack16(const std::uint8_t* in, std::size_t n, unsigned bits, std::uint16_t* fields) {
  if (bits <= 8 || bits == 16) return unpack_fields(in, n, bits, fields);
  unpack_words(in, n, bits, fields);
}

template <typename Sum>
void look_up_add(const std::uint8_t* HWY_RESTRICT level, std::size_t n, const Levels& levels,
                 Sum* HWY_RESTRICT sum) {
  for (std::size_t i = 0; i < n; ++i) sum[i] = static_cast<Sum>(sum[i] + levels.places[level[i]]);
}

// Whether the places of all levels fit in one byte each, so that 16 of them fit in a 16-byte part
// of a vector.
bool fits_bytes(const Levels& levels) { return levels.bits <= 4 && levels.granularity <= 255; }

hn::Vec<Bytes> place_table(const Levels& levels) {
  alignas(16) std::uint8_t places[16];
  for (std::size_t i = 0; i < 16; ++i) places[i] = static_cast<std::uint8_t>(levels.places[i]);
  return hn::LoadDup128(Bytes(), places);
}

void look_up_add8(const std::uint8_t* HWY_RESTRICT level, std::size_t n, const Levels& levels,
                  std::uint8_t* HWY_RESTRICT sum) {
  if (!fits_bytes(levels)) return look_up_add(level, n, levels, sum);
  const Bytes db;
  const auto table = place_table(levels);
  for (std::size_t i = 0; i < n; i += hn::Lanes(db)) {
    const auto place = hn::TableLookupBytes(table, hn::LoadU(db, level + i));
    hn::StoreU(hn::Add(hn::LoadU(db, sum + i), place), db, sum + i);
  }
}

void look_up_add16(const std::uint8_t* HWY_RESTRICT level, std::size_t n, const Levels& levels,
                   std::uint16_t* HWY_RESTRICT sum) {
  if (!fits_bytes(levels)) return look_up_add(level, n, levels, sum);
  const Bytes db;
  const Words dw;
  const std::size_t words = hn::Lanes(dw);
  const auto table = place_table(levels);
  for (std::size_t i = 0; i < n; i += 2 * words) {
    const auto place = hn::TableLookupBytes(table, hn::LoadU(db, level + i));
    const auto low = hn::PromoteTo(dw, hn::LowerHalf(hn::Half<Bytes>(), place));
    const auto high = hn::PromoteTo(dw, hn::UpperHalf(hn::Half<Bytes>(), place));
    hn::StoreU(hn::Add(hn::LoadU(dw, sum + i), low), dw, sum + i);
    hn::StoreU(hn::Add(hn::LoadU(dw, sum + i + words), high), dw, sum + i + words);
  }
}

template <typename Sum>
IntVec load_sums(const Sum* sum) {
  const hn::Rebind<Sum, Float> ds;
  if constexpr (sizeof(Sum) == sizeof(std::int32_t)) {
    return hn::BitCast(Int32(), hn::LoadU(ds, sum));
  } else {
    return hn::PromoteTo(Int32(), hn::LoadU(ds, sum));
  }
}

template <typename Sum>
std::uint32_t centre(const Sum* HWY_RESTRICT sum, std::size_t n, std::int32_t middle,
                     float* HWY_RESTRICT y) {
  const Float df;
  const Int32 di;
  const Uint32 du;
  const std::size_t lanes = hn::Lanes(df);
  UintVec largest = hn::Zero(du);
  for (std::size_t i = 0; i < n; i += lanes) {
    const IntVec sums = load_sums(sum + i);
    largest = hn::Max(largest, hn::BitCast(du, sums));
    hn::StoreU(hn::ConvertTo(df, hn::Sub(hn::ShiftLeft<1>(sums), hn::Set(di, middle))), df, y + i);
  }
  return hn::GetLane(hn::MaxOfLanes(du, largest));
}

void centre_levels(const std::uint8_t* HWY_RESTRICT level, std::size_t n, const Levels& levels,
                   float* HWY_RESTRICT y) {
  const auto middle = static_cast<std::int32_t>(levels.granularity);
  if (!fits_bytes(levels)) {
    for (std::size_t i = 0; i < n; ++i) {
      y[i] = static_cast<float>(2 * levels.places[level[i]] - middle);
    }
    return;
  }
  const Bytes db;
  const auto table = place_table(levels);
  alignas(64) std::uint8_t places[64];
  for (std::size_t i = 0; i < n; i += hn::Lanes(db)) {
    hn::Store(hn::TableLookupBytes(table, hn::LoadU(db, level + i)), db, places);
    centre(places, hn::Lanes(db), middle, y + i);
  }
}

}  // namespace

const Kernels* kernel_table() {
  static constexpr Kernels kKernels = {
      .sum_squares = sum_squares,
      .draw_words = draw_words,
      .spread = spread,
      .collect = collect,
      .affine = affine,
      .extent = extent,
      .quantize = quantize,
      .pack8 = pack8,
      .unpack8 = unpack8,
      .unpack16 = unpack16,
      .unpack32 = unpack_fields<std::uint32_t>,
      .look_up_add8 = look_up_add8,
      .look_up_add16 = look_up_add16,
      .look_up_add32 = look_up_add<std::uint32_t>,
      .centre_levels = centre_levels,
      .centre8 = centre<std::uint8_t>,
      .centre16 = centre<std::uint16_t>,
      .centre32 = centre<std::uint32_t>,
  };
  return &kKernels;
}
#endif

}  // namespace tributary::thc::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tributary::thc {

HWY_EXPORT(kernel_table);
const Kernels& simd_kernels() { return *HWY_DYNAMIC_DISPATCH(kernel_table)(); }

}  // namespace tributary::thc
#endif
