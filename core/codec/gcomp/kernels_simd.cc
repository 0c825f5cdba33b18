// The SIMD version of kernels_scalar.cc. Highway compiles this file once per instruction set and
// picks the best at run time. Vectors are of at most 16 words, so that they divide the columns of
// packed words; what is left of a chunk behind the last whole block goes through the scalar
// version's functions.
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

// Reads no more than was written: a load that is wider than the store before it would wait.
std::uint64_t mask_bits(UintMask mask) {
  std::array<std::uint8_t, 8> bytes;
  hn::StoreMaskBits(Uint32(), mask, bytes.data());
  if (hn::Lanes(Uint32()) <= 8) return bytes[0];
  std::uint16_t bits;
  std::memcpy(&bits, bytes.data(), sizeof(bits));
  return bits;
}

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

// The processor's own prefetching stops at every page; chunks are read and written in one go.
constexpr std::size_t kPrefetchBytes = 8192;

template <typename T>
void prefetch(const T* from) {
  hwy::Prefetch(reinterpret_cast<const std::uint8_t*>(from) + kPrefetchBytes);
}

// ------------------------------ split

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
// Lane numbers in the order in which a mask's lanes close up. (GCC copies the table within Highway
// 1.0's Compress to the stack at every call.)
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

UintVec compress(UintVec values, UintMask mask) {
  const std::uint8_t* const order = kCloseUp[mask_bits(mask)].data();
  const __m128i bytes = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(order));
  return UintVec{_mm256_permutevar8x32_epi32(values.raw, _mm256_cvtepu8_epi32(bytes))};
}
#else
UintVec compress(UintVec values, UintMask mask) { return hn::Compress(values, mask); }
#endif

// Appends the lanes of the mask to the level's fractions. Compressing in a register and storing all
// of it is faster than a compressing store, and Parts has room for that.
void append(UintVec fractions, UintMask mask, unsigned level, Parts& parts) {
  std::size_t& count = parts.counts[level];
  hn::StoreU(compress(fractions, mask), Uint32(), parts.fractions[level].data() + count);
  count += hn::CountTrue(Uint32(), mask);
}

struct Levels {
  UintMask above_0;
  UintMask above_1;
  UintMask above_2;
};

template <bool kAdaptive>
FloatVec numerator(const LevelRule& rule, std::size_t i, FloatVec parameter, FloatVec gradient) {
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

template <bool kAdaptive>
Levels levels_of(const LevelRule& rule, std::size_t i, FloatVec value, UintMask finite_and_sent) {
  const Uint32 du;
  const Float df;
  prefetch(rule.parameters + i);
  const FloatVec parameter = hn::LoadU(df, rule.parameters + i);
  const FloatVec gradient = hn::Mul(value, hn::Set(df, rule.metric.gradient));
  const FloatVec upper = hn::Abs(numerator<kAdaptive>(rule, i, parameter, gradient));
  const FloatVec lower = hn::Abs(hn::Mul(hn::Set(df, rule.metric.rate), gradient));
  const UintMask usable =
      hn::And(finite_and_sent, hn::RebindMask(du, hn::Ne(parameter, hn::Zero(df))));
  const auto exceeds = [&](float threshold) {
    return hn::And(usable,
                   hn::RebindMask(du, hn::Gt(upper, hn::Mul(lower, hn::Set(df, threshold)))));
  };
  return {exceeds(0x1p6f), exceeds(0x1p12f), exceeds(0x1p18f)};
}

// One vector whose levels differ.
template <bool kAdaptive>
void split_by_metric(const LevelRule& rule, std::size_t i, UintVec bits, UintMask sent,
                     Parts& parts, std::uint64_t& low, std::uint64_t& high) {
  const Uint32 du;
  const UintMask finite =
      hn::And(sent, hn::Ne(exponents_of(bits), hn::Set(du, kNotFiniteExponent)));
  const Levels levels = levels_of<kAdaptive>(rule, i, hn::BitCast(Float(), bits), finite);
  const UintVec fractions = fractions_of(bits);
  const UintMask at_1 = hn::AndNot(levels.above_1, levels.above_0);
  append(fractions, hn::AndNot(levels.above_0, sent), 0, parts);
  append(hn::ShiftRight<6>(fractions), at_1, 1, parts);
  append(hn::ShiftRight<12>(fractions), hn::AndNot(levels.above_2, levels.above_1), 2, parts);
  append(hn::ShiftRight<18>(fractions), levels.above_2, 3, parts);
  low |= mask_bits(hn::Or(at_1, levels.above_2)) << (i % kBlock);
  high |= mask_bits(levels.above_1) << (i % kBlock);
}

// One vector of one level, but for what is not finite.
void split_fixed(unsigned level, std::size_t i, UintVec bits, UintMask sent, Parts& parts,
                 std::uint64_t& low, std::uint64_t& high) {
  const Uint32 du;
  UintMask here = sent;
  if (level > 0) {
    const UintMask whole = hn::Eq(exponents_of(bits), hn::Set(du, kNotFiniteExponent));
    here = hn::AndNot(whole, sent);
    append(fractions_of(bits), hn::And(whole, sent), 0, parts);
    const std::uint64_t shifted = mask_bits(here) << (i % kBlock);
    low |= (level & 1u) != 0 ? shifted : 0;
    high |= (level & 2u) != 0 ? shifted : 0;
  }
  append(hn::ShiftRightSame(fractions_of(bits), static_cast<int>(truncated_bits(level))), here,
         level, parts);
}

template <bool kPrune, LevelRule::Kind kKind>
void split_block(const float* x, std::size_t block, const LevelRule& rule, Splitter& splitter,
                 Parts& parts, UintVec& pruned) {
  const Uint32 du;
  const std::size_t lanes = hn::Lanes(du);
  std::uint64_t low = 0;
  std::uint64_t high = 0;
  std::uint64_t sent_bits = 0;
  for (std::size_t i = block; i < block + kBlock; i += lanes) {
    prefetch(x + i);
    const UintVec bits = hn::BitCast(du, hn::LoadU(Float(), x + i));
    const UintVec exponents = exponents_of(bits);
    store_bytes(exponents, parts.exponents.data() + i);
    UintMask sent = hn::FirstN(du, lanes);
    if constexpr (kPrune) {
      sent = hn::Ne(exponents, hn::Zero(du));
      pruned = hn::Or(pruned, hn::IfThenZeroElse(sent, bits));
    }
    sent_bits |= mask_bits(sent) << (i % kBlock);
    if constexpr (kKind == LevelRule::Kind::fixed) {
      split_fixed(rule.level, i, bits, sent, parts, low, high);
    } else {
      constexpr bool kAdaptive = kKind == LevelRule::Kind::adaptive;
      split_by_metric<kAdaptive>(rule, i, bits, sent, parts, low, high);
    }
  }
  const auto count = static_cast<unsigned>(std::popcount(sent_bits));
  splitter.low.append(gather(low, sent_bits), count);
  splitter.high.append(gather(high, sent_bits), count);
}

template <bool kPrune, LevelRule::Kind kKind>
void split_chunk(const float* x, std::size_t n, const LevelRule& rule, Parts& parts) {
  const Uint32 du;
  Splitter splitter(rule, kPrune, parts);
  UintVec pruned = hn::Zero(du);
  std::size_t i = 0;
  for (; i + kBlock <= n; i += kBlock) {
    split_block<kPrune, kKind>(x, i, rule, splitter, parts, pruned);
  }
  parts.pruned_more_than_zeros = !hn::AllTrue(du, hn::Eq(pruned, hn::Zero(du)));
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

// The fields of one row from `column` on. `words` must have the row's words.
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
  counts = {all + with_both - with_low - with_high, with_low - with_both, with_high - with_both,
            with_both};
}

// Which of a block's bytes are `value`.
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
  asm("" : "+v"(next));  // Zen 5 takes three times as long when the load is part of the expansion
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
// Blocks that are sent whole at one level are copied; others go value by value.
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
