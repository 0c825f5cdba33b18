// The SIMD version of kernels_scalar.cc. Highway compiles this file once per instruction set and
// selects the best at run time. Vectors have at most 16 words, so that they divide the columns of
// packed words. Values after the last whole block of a chunk use the functions of the scalar
// version.
#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "core/codec/gcomp/bit_plane.h"
#include "core/codec/gcomp/kernels.h"
#include "core/codec/gcomp/one_value.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/codec/gcomp/kernels_simd.cc"
#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/highway.h>

#include "core/codec/gcomp/exponents-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tributary::gcomp::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

using Uint32 = hn::CappedTag<std::uint32_t, kColumns>;
using Int32 = hn::RebindToSigned<Uint32>;
using Float = hn::RebindToFloat<Uint32>;
using Uint8 = hn::Rebind<std::uint8_t, Uint32>;
using UintVec = hn::Vec<Uint32>;
using FloatVec = hn::Vec<Float>;
using UintMask = hn::Mask<Uint32>;

std::uint64_t mask_bits(UintMask mask) {
#if HWY_TARGET <= HWY_AVX3
  return mask.raw;
#else
  // Reads no more bytes than were written, because a load that is wider than the preceding store
  // stalls.
  std::array<std::uint8_t, 8> bytes;
  hn::StoreMaskBits(Uint32(), mask, bytes.data());
  if (hn::Lanes(Uint32()) <= 8) return bytes[0];
  std::uint16_t bits;
  std::memcpy(&bits, bytes.data(), sizeof(bits));
  return bits;
#endif
}

// One instruction where the processor has it. All AVX2 targets of Highway include BMI2.
std::uint64_t gather(std::uint64_t bits, std::uint64_t mask) {
#if HWY_ARCH_X86_64 && HWY_TARGET <= HWY_AVX2
  return _pext_u64(bits, mask);
#else
  return gather_bits(bits, mask);
#endif
}

std::uint64_t scatter(std::uint64_t bits, std::uint64_t mask) {
#if HWY_ARCH_X86_64 && HWY_TARGET <= HWY_AVX2
  return _pdep_u64(bits, mask);
#else
  return scatter_bits(bits, mask);
#endif
}

// The processor's own prefetching stops at page boundaries, but chunks are processed continuously.
// The function is always inlined, because GCC removes a function that only prefetches.
constexpr std::size_t kPrefetchBytes = 8192;

template <typename T>
HWY_INLINE void prefetch(const T* from) {
  hwy::Prefetch(reinterpret_cast<const std::uint8_t*>(from) + kPrefetchBytes);
}

// ------------------------------ split

// exponent_of(), fraction_of() and join() of elements.h, for a vector.
UintVec exponents_of(UintVec bits) {
  return hn::And(hn::ShiftRight<23>(bits), hn::Set(Uint32(), 0xffu));
}

UintVec fractions_of(UintVec bits) {
  const Uint32 du;
  return hn::Or(hn::And(hn::ShiftRight<8>(bits), hn::Set(du, 0x800000u)),
                hn::And(bits, hn::Set(du, 0x7fffffu)));
}

void store_bytes(UintVec below_256, std::uint8_t* out) {
  hn::StoreU(hn::DemoteTo(Uint8(), hn::BitCast(Int32(), below_256)), Uint8(), out);
}

#if HWY_TARGET == HWY_AVX2
// Lane numbers in the order in which the lanes of a mask move together. GCC copies the table in
// Highway 1.0's Compress to the stack at every call.
constexpr std::array<std::array<std::uint8_t, 8>, 256> kCloseUp = [] {
  std::array<std::array<std::uint8_t, 8>, 256> all = {};
  for (unsigned mask = 0; mask < all.size(); ++mask) {
    std::size_t count = 0;
    for (std::uint8_t lane = 0; lane < 8; ++lane) {
      if ((mask >> lane & 1u) != 0) all[mask][count++] = lane;
    }
  }
  return all;
}();
#endif

// Moves the lanes whose bits are set together.
HWY_INLINE UintVec compress(UintVec values, std::uint32_t lanes) {
#if HWY_TARGET <= HWY_AVX3
  return UintVec{_mm512_maskz_compress_epi32(static_cast<__mmask16>(lanes), values.raw)};
#elif HWY_TARGET == HWY_AVX2
  const __m128i bytes = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(kCloseUp[lanes].data()));
  return UintVec{_mm256_permutevar8x32_epi32(values.raw, _mm256_cvtepu8_epi32(bytes))};
#else
  const std::array<std::uint8_t, 8> bits = {static_cast<std::uint8_t>(lanes),
                                            static_cast<std::uint8_t>(lanes >> 8)};
  return hn::CompressBits(values, bits.data());
#endif
}

// The position of the next fraction of each level. A local copy stays in registers, because vector
// stores may alias anything in memory.
using Ends = std::array<std::uint32_t*, kLevels>;

// Appends the fractions whose bits are set, without their truncated bits. Compressing in a register
// and storing all lanes is faster than a compressing store, and Parts has space for that.
HWY_INLINE void append(UintVec fractions, std::uint64_t bits, unsigned level, Ends& ends) {
  const auto lanes = static_cast<std::uint32_t>(bits & ((1u << hn::Lanes(Uint32())) - 1));
  const UintVec sent = hn::ShiftRightSame(fractions, static_cast<int>(truncated_bits(level)));
  hn::StoreU(compress(sent, lanes), Uint32(), ends[level]);
  ends[level] += std::popcount(lanes);
}

// A block's values as bits: the sent values, and among them those above each level.
struct BlockMasks {
  std::uint64_t sent = 0;
  std::array<std::uint64_t, kLevels - 1> above = {};
};

using BlockFractions = std::array<std::uint32_t, kBlock>;

// The numerator of δ for one vector, in the order of operations of metric.h.
template <bool kAdaptive>
HWY_INLINE FloatVec numerator(const LevelRule& rule, std::size_t i, FloatVec parameter,
                              FloatVec gradient) {
  const Float df;
  const MetricCoefficients& k = rule.metric;
  prefetch(rule.first + i);
  const FloatVec moment = hn::Mul(hn::Set(df, k.moment), hn::LoadU(df, rule.first + i));
  const FloatVec scaled = hn::Mul(hn::Set(df, k.scale), parameter);
  if constexpr (!kAdaptive) {
    return hn::Sub(scaled, moment);
  } else {
    prefetch(rule.second + i);
    const FloatVec decayed = hn::Add(gradient, hn::Mul(hn::Set(df, k.weight_decay), parameter));
    const FloatVec square = hn::Add(hn::Mul(hn::Set(df, k.keep), hn::LoadU(df, rule.second + i)),
                                    hn::Mul(hn::Set(df, k.add), hn::Mul(decayed, decayed)));
    const FloatVec root = hn::Add(hn::Sqrt(square), hn::Set(df, k.epsilon));
    return hn::Sub(hn::Sub(hn::Mul(scaled, root), moment),
                   hn::Mul(hn::Set(df, k.decay), parameter));
  }
}

// Adds the levels of one vector; `finite` marks its sent values that are finite.
template <bool kAdaptive>
HWY_INLINE void add_levels(const LevelRule& rule, std::size_t i, UintVec bits, UintMask finite,
                           BlockMasks& masks) {
  const Uint32 du;
  const Float df;
  prefetch(rule.parameters + i);
  const FloatVec parameter = hn::LoadU(df, rule.parameters + i);
  const FloatVec gradient = hn::Mul(hn::BitCast(df, bits), hn::Set(df, rule.metric.gradient));
  const FloatVec upper = hn::Abs(numerator<kAdaptive>(rule, i, parameter, gradient));
  const FloatVec lower = hn::Abs(hn::Mul(hn::Set(df, rule.metric.rate), gradient));
  const UintMask usable = hn::And(finite, hn::RebindMask(du, hn::Ne(parameter, hn::Zero(df))));
  const std::uint64_t usable_bits = mask_bits(usable);
  const auto exceeds = [&](float threshold) {
    return usable_bits &
           mask_bits(hn::RebindMask(du, hn::Gt(upper, hn::Mul(lower, hn::Set(df, threshold)))));
  };
  masks.above[0] |= exceeds(0x1p6f) << (i % kBlock);
  masks.above[1] |= exceeds(0x1p12f) << (i % kBlock);
  masks.above[2] |= exceeds(0x1p18f) << (i % kBlock);
}

template <bool kPrune, LevelRule::Kind kKind>
HWY_INLINE BlockMasks block_masks(const float* x, std::size_t block, const LevelRule& rule,
                                  std::uint8_t* exponents_out, BlockFractions& fractions,
                                  UintVec& pruned) {
  const Uint32 du;
  const std::size_t lanes = hn::Lanes(du);
  // Masks are words of 64 bits, so a block is exactly one word of each.
  BlockMasks masks;
  for (std::size_t i = block; i < block + kBlock; i += lanes) {
    prefetch(x + i);
    const UintVec bits = hn::BitCast(du, hn::LoadU(Float(), x + i));
    const UintVec exponents = exponents_of(bits);
    store_bytes(exponents, exponents_out + i);
    hn::Store(fractions_of(bits), du, fractions.data() + i - block);
    UintMask sent = hn::FirstN(du, lanes);
    if constexpr (kPrune) {
      sent = hn::Ne(exponents, hn::Zero(du));
      pruned = hn::Or(pruned, hn::IfThenZeroElse(sent, bits));
    }
    masks.sent |= mask_bits(sent) << (i % kBlock);
    const UintMask finite = hn::And(sent, hn::Ne(exponents, hn::Set(du, kNotFiniteExponent)));
    if constexpr (kKind == LevelRule::Kind::fixed) {
      const std::uint64_t above = mask_bits(finite) << (i % kBlock);
      for (unsigned level = 0; level < rule.level; ++level) masks.above[level] |= above;
    } else {
      add_levels<kKind == LevelRule::Kind::adaptive>(rule, i, bits, finite, masks);
    }
  }
  return masks;
}

// Levels are found for a whole block before its fractions are taken. In a single loop, the
// processor would run out of entries for waiting instructions.
template <bool kPrune, LevelRule::Kind kKind>
HWY_INLINE void split_block(const float* x, std::size_t block, const LevelRule& rule,
                            Splitter& splitter, std::uint8_t* exponents, Ends& ends,
                            UintVec& pruned) {
  const Uint32 du;
  alignas(64) BlockFractions all;
  const BlockMasks masks = block_masks<kPrune, kKind>(x, block, rule, exponents, all, pruned);
  const auto [above_0, above_1, above_2] = masks.above;
  const std::array<std::uint64_t, kLevels> at = {masks.sent & ~above_0, above_0 & ~above_1,
                                                 above_1 & ~above_2, above_2};
  for (std::size_t i = 0; i < kBlock; i += hn::Lanes(du)) {
    const UintVec fractions = hn::Load(du, all.data() + i);
    append(fractions, at[0] >> i, 0, ends);
    // Known at compile time except for the level; saves three compressions for untruncated chunks.
    if (kKind == LevelRule::Kind::fixed && rule.level == 0) continue;
    append(fractions, at[1] >> i, 1, ends);
    append(fractions, at[2] >> i, 2, ends);
    append(fractions, at[3] >> i, 3, ends);
  }
  const auto count = static_cast<unsigned>(std::popcount(masks.sent));
  splitter.low.append(gather(at[1] | at[3], masks.sent), count);
  splitter.high.append(gather(above_1, masks.sent), count);
}

template <bool kPrune, LevelRule::Kind kKind>
void split_chunk(const float* x, std::size_t n, const LevelRule& in_memory, Parts& parts) {
  const Uint32 du;
  // A copy, because stores of vectors could alias the original.
  const LevelRule rule = in_memory;
  Splitter splitter(in_memory, kPrune, parts);
  Ends ends;
  for (unsigned level = 0; level < kLevels; ++level) ends[level] = parts.fractions[level].data();
  UintVec pruned = hn::Zero(du);
  std::size_t i = 0;
  for (; i + kBlock <= n; i += kBlock) {
    split_block<kPrune, kKind>(x, i, rule, splitter, parts.exponents.data(), ends, pruned);
  }
  parts.pruned_more_than_zeros = !hn::AllTrue(du, hn::Eq(pruned, hn::Zero(du)));
  for (unsigned level = 0; level < kLevels; ++level) {
    parts.counts[level] = static_cast<std::size_t>(ends[level] - parts.fractions[level].data());
  }
  for (; i < n; ++i) splitter.add(i, x[i]);
  splitter.finish();
}

template <bool kPrune>
void split_chunk(const float* x, std::size_t n, const LevelRule& rule, Parts& parts) {
  switch (rule.kind) {
    case LevelRule::Kind::fixed:
      return split_chunk<kPrune, LevelRule::Kind::fixed>(x, n, rule, parts);
    case LevelRule::Kind::linear:
      return split_chunk<kPrune, LevelRule::Kind::linear>(x, n, rule, parts);
    case LevelRule::Kind::adaptive:
      return split_chunk<kPrune, LevelRule::Kind::adaptive>(x, n, rule, parts);
  }
}

void split(const float* x, std::size_t n, const LevelRule& rule, bool prune, Parts& parts) {
  if (prune) {
    split_chunk<true>(x, n, rule, parts);
  } else {
    split_chunk<false>(x, n, rule, parts);
  }
}

// ------------------------------ packed words

const std::uint32_t* as_words(const std::uint8_t* bytes) {
  return reinterpret_cast<const std::uint32_t*>(bytes);
}

void pack(const std::uint32_t* HWY_RESTRICT fields, std::size_t count, unsigned bits,
          std::uint8_t* HWY_RESTRICT out) {
  const Uint32 du;
  const std::size_t rows = (count + kColumns - 1) / kColumns;
  for (std::size_t column = 0; column < kColumns; column += hn::Lanes(du)) {
    auto* word = reinterpret_cast<std::uint32_t*>(out) + column;
    UintVec pending = hn::Zero(du);
    unsigned filled = 0;
    for (std::size_t row = 0; row < rows; ++row) {
      const UintVec field = hn::LoadU(du, fields + row * kColumns + column);
      pending = hn::Or(pending, hn::ShiftLeftSame(field, static_cast<int>(filled)));
      filled += bits;
      if (filled < 32) continue;
      filled -= 32;
      prefetch(word);
      hn::StoreU(pending, du, word);
      word += kColumns;
      pending = hn::ShiftRightSame(field, static_cast<int>(bits - filled));
    }
    if (filled > 0) hn::StoreU(pending, du, word);
  }
}

// Returns the fields of one row from `column` on. `words` must contain all words of the row.
UintVec fields_of_row(const std::uint32_t* words, std::size_t row, std::size_t column,
                      unsigned bits) {
  const Uint32 du;
  const std::size_t start = row * bits;
  const std::uint32_t* const at = words + start / 32 * kColumns + column;
  const auto shift = static_cast<int>(start % 32);
  UintVec fields = hn::ShiftRightSame(hn::LoadU(du, at), shift);
  if (start % 32 + bits > 32) {
    fields = hn::Or(fields, hn::ShiftLeftSame(hn::LoadU(du, at + kColumns), 32 - shift));
  }
  return hn::And(fields, hn::Set(du, (1u << bits) - 1));
}

void unpack(const std::uint8_t* HWY_RESTRICT words, std::size_t count, unsigned bits,
            unsigned shift, std::uint32_t* HWY_RESTRICT fields) {
  const Uint32 du;
  const std::size_t rows = (count + kColumns - 1) / kColumns;
  for (std::size_t row = 0; row < rows; ++row) {
    prefetch_payload(words + row * bits * 2);
    for (std::size_t column = 0; column < kColumns; column += hn::Lanes(du)) {
      const UintVec row_fields = fields_of_row(as_words(words), row, column, bits);
      hn::StoreU(hn::ShiftLeftSame(row_fields, static_cast<int>(shift)), du,
                 fields + row * kColumns + column);
    }
  }
}

// ------------------------------ join

void find_levels(const std::uint8_t* low, const std::uint8_t* high, std::size_t n, Masks& masks,
                 std::array<std::size_t, kLevels>& counts) {
  PlaneReader low_row(low);
  PlaneReader high_row(high);
  std::size_t all = 0;
  std::size_t with_low = 0;
  std::size_t with_high = 0;
  std::size_t with_both = 0;
  for (std::size_t block = 0; block * kBlock < n; ++block) {
    const std::uint64_t sent = masks.sent[block];
    const auto count = static_cast<unsigned>(std::popcount(sent));
    const std::uint64_t l = scatter(low_row.take(count), sent);
    const std::uint64_t h = scatter(high_row.take(count), sent);
    masks.level_low[block] = l;
    masks.level_high[block] = h;
    all += count;
    with_low += static_cast<std::size_t>(std::popcount(l));
    with_high += static_cast<std::size_t>(std::popcount(h));
    with_both += static_cast<std::size_t>(std::popcount(h & l));
  }
  // Inclusion and exclusion: four population counts per block instead of masks for each level.
  counts = {all + with_both - with_low - with_high, with_low - with_both, with_high - with_both,
            with_both};
}

// Returns the bytes of a block that equal `value`, as bits.
std::uint64_t equal_bytes(const std::uint8_t* block, std::uint8_t value) {
  const hn::CappedTag<std::uint8_t, kBlock> d8;
  std::uint64_t bits = 0;
  for (std::size_t i = 0; i < kBlock; i += hn::Lanes(d8)) {
    std::uint64_t part = 0;
    const auto equal = hn::Eq(hn::LoadU(d8, block + i), hn::Set(d8, value));
    hn::StoreMaskBits(d8, equal, reinterpret_cast<std::uint8_t*>(&part));
    bits |= part << i;
  }
  return bits;
}

std::size_t find_sent(const std::uint8_t* exponents, std::size_t n, bool prune, Masks& masks) {
  std::size_t sent = 0;
  std::size_t i = 0;
  for (; i + kBlock <= n; i += kBlock) {
    const std::uint64_t bits = prune ? ~equal_bytes(exponents + i, 0) : ~std::uint64_t{0};
    masks.sent[i / kBlock] = bits;
    sent += static_cast<std::size_t>(std::popcount(bits));
  }
  if (i == n) return sent;
  std::uint64_t& last = masks.sent[i / kBlock];
  last = 0;
  for (std::size_t k = 0; i + k < n; ++k) {
    if (!prune || exponents[i + k] != 0) last |= std::uint64_t{1} << k;
  }
  return sent + static_cast<std::size_t>(std::popcount(last));
}

UintVec load_exponents(const std::uint8_t* exponents) {
  return hn::PromoteTo(Uint32(), hn::LoadU(Uint8(), exponents));
}

void store_joined(UintVec exponents, UintVec fractions, float* x) {
  const Uint32 du;
  const UintVec sign = hn::ShiftLeft<8>(hn::And(fractions, hn::Set(du, 0x800000u)));
  const UintVec mantissa = hn::And(fractions, hn::Set(du, 0x7fffffu));
  const UintVec bits = hn::Or(hn::Or(sign, mantissa), hn::ShiftLeft<23>(exponents));
  prefetch(x);
  hn::StoreU(hn::BitCast(Float(), bits), Float(), x);
}

#if HWY_TARGET <= HWY_AVX3
// Takes the next fractions of a level into the lanes of its mask.
UintVec expand(const std::uint32_t*& fractions, std::uint64_t mask) {
  const auto lanes = static_cast<__mmask16>(mask);
  __m512i next = _mm512_loadu_si512(fractions);
  asm("" : "+v"(next));  // Zen 5 needs three times as long if the load is part of the expansion
  const UintVec out{_mm512_maskz_expand_epi32(lanes, next)};
  fractions += std::popcount(static_cast<std::uint32_t>(lanes));
  return out;
}

void join_block(const std::uint8_t* exponents, const Masks& masks, std::size_t block, float* x,
                Joiner& joiner) {
  const std::size_t index = block / kBlock;
  const std::uint64_t sent = masks.sent[index];
  const std::uint64_t low = masks.level_low[index];
  const std::uint64_t high = masks.level_high[index];
  for (std::size_t i = 0; i < kBlock; i += kColumns) {
    const UintVec first = hn::Or(expand(joiner.next[0], (sent & ~(low | high)) >> i),
                                 expand(joiner.next[1], (low & ~high) >> i));
    const UintVec second = hn::Or(expand(joiner.next[2], (high & ~low) >> i),
                                  expand(joiner.next[3], (high & low) >> i));
    store_joined(load_exponents(exponents + block + i), hn::Or(first, second), x + block + i);
  }
}
#else
// Blocks that are sent completely at one level are copied; others are joined value by value.
void join_block(const std::uint8_t* exponents, const Masks& masks, std::size_t block, float* x,
                Joiner& joiner) {
  const std::size_t index = block / kBlock;
  const std::uint64_t low = masks.level_low[index];
  const std::uint64_t high = masks.level_high[index];
  const auto uniform = [](std::uint64_t bits) { return bits + 1 < 2; };
  if (~masks.sent[index] != 0 || !uniform(low) || !uniform(high)) {
    for (std::size_t i = block; i < block + kBlock; ++i) x[i] = joiner.at(i);
    return;
  }
  const std::uint32_t*& next = joiner.next[(high & 1) * 2 + (low & 1)];
  for (std::size_t i = block; i < block + kBlock; i += hn::Lanes(Uint32())) {
    store_joined(load_exponents(exponents + i), hn::LoadU(Uint32(), next), x + i);
    next += hn::Lanes(Uint32());
  }
}
#endif

void join(const std::uint8_t* exponents, const Masks& masks,
          const std::array<const std::uint32_t*, kLevels>& fractions, std::size_t n, float* x) {
  Joiner joiner(exponents, masks, fractions);
  std::size_t i = 0;
  for (; i + kBlock <= n; i += kBlock) join_block(exponents, masks, i, x, joiner);
  for (; i < n; ++i) x[i] = joiner.at(i);
}

void join_all(const std::uint8_t* HWY_RESTRICT exponents, const std::uint8_t* HWY_RESTRICT words,
              unsigned level, std::size_t n, float* HWY_RESTRICT x) {
  const auto shift = static_cast<int>(truncated_bits(level));
  std::size_t i = 0;
  for (; i + kColumns <= n; i += kColumns) {
    prefetch_payload(words + i / kColumns * sent_bits(level) * 2);
    for (std::size_t column = 0; column < kColumns; column += hn::Lanes(Uint32())) {
      const UintVec fields = fields_of_row(as_words(words), i / kColumns, column, sent_bits(level));
      store_joined(load_exponents(exponents + i + column), hn::ShiftLeftSame(fields, shift),
                   x + i + column);
    }
  }
  for (; i < n; ++i) x[i] = joined_at(exponents, words, level, i);
}

bool restore_escapes(std::uint8_t mark, const std::uint8_t* escapes, std::size_t count,
                     std::uint8_t* exponents, std::size_t n) {
  std::size_t used = 0;
  // Counts marks beyond the escapes too, so that the final comparison detects both errors.
  const auto restore = [&](std::size_t i) {
    if (used < count) exponents[i] = escapes[used];
    ++used;
  };
  std::size_t i = 0;
  for (; i + kBlock <= n; i += kBlock) {
    for (std::uint64_t marked = equal_bytes(exponents + i, mark); marked != 0;
         marked &= marked - 1) {
      restore(i + static_cast<std::size_t>(std::countr_zero(marked)));
    }
  }
  for (; i < n; ++i) {
    if (exponents[i] == mark) restore(i);
  }
  return used == count;
}

}  // namespace

const Kernels* kernel_table() {
  static constexpr Kernels kKernels = {
      .split = split,
      .code_exponents = code_exponents,
      .decode_exponents = decode_exponents,
      .restore_escapes = restore_escapes,
      .pack = pack,
      .unpack = unpack,
      .find_sent = find_sent,
      .find_levels = find_levels,
      .join = join,
      .join_all = join_all,
  };
  return &kKernels;
}

}  // namespace tributary::gcomp::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tributary::gcomp {

HWY_EXPORT(kernel_table);
const Kernels& simd_kernels() { return *HWY_DYNAMIC_DISPATCH(kernel_table)(); }

}  // namespace tributary::gcomp
#endif
