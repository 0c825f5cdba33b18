// The vector forms of pack_fields() and unpack_fields() (packing.h) for kernels_simd.cc: fields of
// fewer than 8 bits in bytes, and the unpacking of 9 to 15 bits into words. Highway includes this
// file once per instruction set.
//
// Eight fields of `bits` bits, an eight, fill `bits` bytes. Bytes are packed with one eight in each
// lane of 64 bits, by the three steps of EightFields. For words, two neighbouring lanes have the
// halves of an eight.
#if defined(TRIBUTARY_CODEC_THC_HOST_PACKING_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef TRIBUTARY_CODEC_THC_HOST_PACKING_INL_H
#undef TRIBUTARY_CODEC_THC_HOST_PACKING_INL_H
#else
#define TRIBUTARY_CODEC_THC_HOST_PACKING_INL_H
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <type_traits>

#include "core/codec/thc/packing.h"

#if HWY_TARGET != HWY_SCALAR
HWY_BEFORE_NAMESPACE();
namespace tributary::thc::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// Most instruction sets move bytes within 16 of them only.
#if HWY_TARGET == HWY_AVX3_DL
using Packed = hn::Full512<std::uint8_t>;
constexpr std::size_t kMoved = 64;
#elif HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3
using Packed = hn::Full256<std::uint8_t>;
constexpr std::size_t kMoved = 16;
#else
using Packed = hn::CappedTag<std::uint8_t, 16>;
constexpr std::size_t kMoved = 16;
#endif
using PackedVec = hn::Vec<Packed>;
using Lanes = hn::Repartition<std::uint64_t, Packed>;
using LanesVec = hn::Vec<Lanes>;

constexpr std::size_t kGroup = 64;  // n is a multiple of it

// The instructions that load and store the packed bytes of a vector, and how many bytes from the
// first one on they touch. `bytes` is the number of packed bytes.
#if HWY_TARGET == HWY_AVX3_DL
HWY_INLINE PackedVec load_packed(const std::uint8_t* in, std::size_t bytes) {
  return PackedVec{_mm512_maskz_loadu_epi8(~std::uint64_t{0} >> (64 - bytes), in)};
}
HWY_INLINE void store_packed(PackedVec v, std::uint8_t* out, std::size_t bytes) {
  _mm512_mask_storeu_epi8(out, ~std::uint64_t{0} >> (64 - bytes), v.raw);
}
HWY_INLINE std::size_t touched_bytes(std::size_t bytes) { return bytes; }
HWY_INLINE PackedVec move_bytes(PackedVec v, PackedVec index) {
  return PackedVec{_mm512_permutexvar_epi8(index.raw, v.raw)};
}
#else
#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3
HWY_INLINE PackedVec load_packed(const std::uint8_t* in, std::size_t bytes) {
  const hn::Half<Packed> half;
  return hn::Combine(Packed(), hn::LoadU(half, in + bytes / 2), hn::LoadU(half, in));
}
HWY_INLINE void store_packed(PackedVec v, std::uint8_t* out, std::size_t bytes) {
  const hn::Half<Packed> half;
  hn::StoreU(hn::LowerHalf(half, v), half, out);
  hn::StoreU(hn::UpperHalf(half, v), half, out + bytes / 2);
}
HWY_INLINE std::size_t touched_bytes(std::size_t bytes) { return bytes / 2 + 16; }
#else
HWY_INLINE PackedVec load_packed(const std::uint8_t* in, std::size_t) {
  return hn::LoadU(Packed(), in);
}
HWY_INLINE void store_packed(PackedVec v, std::uint8_t* out, std::size_t) {
  hn::StoreU(v, Packed(), out);
}
HWY_INLINE std::size_t touched_bytes(std::size_t) { return 16; }
#endif
HWY_INLINE PackedVec move_bytes(PackedVec v, PackedVec index) {
  return hn::TableLookupBytes(v, index);
}
#endif

// Calls move(i, packed) for every group of fields, where `packed` are its 8 · bits bytes. `touched`
// is how many bytes from there on a move touches. The last groups are packed in a buffer, if they
// would touch bytes after the array.
template <typename Byte, typename Move>
HWY_INLINE void for_each_group(Byte* packed, std::size_t n, unsigned bits, std::size_t touched,
                               const Move& move) {
  constexpr bool kWrites = !std::is_const_v<Byte>;
  const std::size_t bytes = kGroup / 8 * bits;
  std::size_t left = n / 8 * bits;
  std::size_t i = 0;
  for (; left >= std::max(touched, bytes); i += kGroup, packed += bytes, left -= bytes) {
    move(i, packed);
  }
  for (; i < n; i += kGroup, packed += bytes) {
    std::uint8_t buffer[2 * kGroup + 16];
    if constexpr (!kWrites) {
      for (std::size_t at = 0; at < bytes; at += 8) std::memcpy(buffer + at, packed + at, 8);
    }
    move(i, buffer);
    if constexpr (kWrites) {
      for (std::size_t at = 0; at < bytes; at += 8) std::memcpy(packed + at, buffer + at, 8);
    }
  }
}

// Indices of bytes for every width below 16. They are constants, because the fields of a small
// block take less time than the divisions that compute them.
using ByteIndices = std::array<std::array<std::uint8_t, 64>, 16>;
template <typename IndexOf>
constexpr ByteIndices indices_of(const IndexOf& index_of) {
  ByteIndices indices = {};
  for (std::size_t bits = 1; bits < indices.size(); ++bits) {
    for (std::size_t i = 0; i < indices[bits].size(); ++i) {
      indices[bits][i] = static_cast<std::uint8_t>(index_of(i % kMoved, bits) % kMoved);
    }
  }
  return indices;
}
alignas(64) constexpr ByteIndices kFromEights = indices_of([](std::size_t i, std::size_t bits) {
  return i / bits * 8 + i % bits;
});
alignas(64) constexpr ByteIndices kToEights = indices_of([](std::size_t i, std::size_t bits) {
  return i / 8 * bits + i % 8;
});
alignas(64) constexpr ByteIndices kToHalves = indices_of([](std::size_t i, std::size_t bits) {
  return i / 8 * bits / 2 + i % 8;
});

PackedVec index_of(const ByteIndices& indices, unsigned bits) {
  return hn::Load(Packed(), indices[bits].data());
}

// Bits that `from` and its copy, moved up by `shift`, keep.
HWY_INLINE LanesVec separate(LanesVec x, std::uint64_t from, unsigned distance, unsigned shift) {
  const Lanes d;
  const LanesVec low = hn::And(x, hn::Set(d, from));
  const LanesVec high =
      hn::And(hn::ShiftLeftSame(x, static_cast<int>(shift)), hn::Set(d, from << distance));
  return hn::Or(low, high);
}
HWY_INLINE LanesVec together(LanesVec x, std::uint64_t to, unsigned width, unsigned shift) {
  const Lanes d;
  const LanesVec low = hn::And(x, hn::Set(d, to));
  const LanesVec high =
      hn::And(hn::ShiftRightSame(x, static_cast<int>(shift)), hn::Set(d, to << width));
  return hn::Or(low, high);
}

// A width is a constant, because its masks are most of the work for a small block.
template <unsigned kBits>
void pack_bytes(const std::uint8_t* fields, std::size_t n, std::uint8_t* out) {
  const Packed db;
  constexpr EightFields kEight(kBits);
  const std::size_t vector_bytes = hn::Lanes(db) / 8 * kBits;
  const PackedVec index = index_of(kFromEights, kBits);
  const std::size_t touched = kGroup / 8 * kBits - vector_bytes + touched_bytes(vector_bytes);
  for_each_group(out, n, kBits, touched, [&](std::size_t first, std::uint8_t* packed) {
    // Packing in place never writes ahead of its reading.
    for (std::size_t i = first; i < first + kGroup; i += hn::Lanes(db)) {
      LanesVec x = hn::BitCast(Lanes(), hn::LoadU(db, fields + i));
      x = together(x, kEight.one(), kBits, 8 - kBits);
      x = together(x, kEight.two(), 2 * kBits, 16 - 2 * kBits);
      x = together(x, kEight.four(), 4 * kBits, 32 - 4 * kBits);
      store_packed(move_bytes(hn::BitCast(db, x), index), packed, vector_bytes);
      packed += vector_bytes;
    }
  });
}

template <unsigned kBits>
void unpack_bytes(const std::uint8_t* in, std::size_t n, std::uint8_t* fields) {
  const Packed db;
  constexpr EightFields kEight(kBits);
  const std::size_t vector_bytes = hn::Lanes(db) / 8 * kBits;
  const PackedVec index = index_of(kToEights, kBits);
  const std::size_t touched = kGroup / 8 * kBits - vector_bytes + touched_bytes(vector_bytes);
#if HWY_TARGET == HWY_AVX3_DL
  const std::uint64_t first_bits = 0x0706050403020100u * kBits;  // no byte carries
  const PackedVec starts = hn::BitCast(db, hn::Set(Lanes(), first_bits));
  const PackedVec mask = hn::Set(db, static_cast<std::uint8_t>((1u << kBits) - 1));
#endif
  for_each_group(in, n, kBits, touched, [&](std::size_t first, const std::uint8_t* packed) {
    for (std::size_t i = first; i < first + kGroup; i += hn::Lanes(db)) {
      const PackedVec moved = move_bytes(load_packed(packed, vector_bytes), index);
#if HWY_TARGET == HWY_AVX3_DL
      const PackedVec parts = {_mm512_multishift_epi64_epi8(starts.raw, moved.raw)};
      hn::StoreU(hn::And(parts, mask), db, fields + i);
#else
      LanesVec x = hn::BitCast(Lanes(), moved);
      x = separate(x, kEight.four(), 32, 32 - 4 * kBits);
      x = separate(x, kEight.two(), 16, 16 - 2 * kBits);
      x = separate(x, kEight.one(), 8, 8 - kBits);
      hn::StoreU(hn::BitCast(db, x), db, fields + i);
#endif
      packed += vector_bytes;
    }
  });
}

// An eight's second half begins within a byte if `bits` is odd.
void unpack_words(const std::uint8_t* in, std::size_t n, unsigned bits, std::uint16_t* fields) {
  const Lanes dw;
  const hn::Repartition<std::uint16_t, Packed> dh;
  const std::size_t lanes = hn::Lanes(dh);
  const std::size_t vector_bytes = lanes / 8 * bits;
  const PackedVec index = index_of(kToHalves, bits);
  const LanesVec within = hn::And(hn::ShiftLeft<2>(hn::Iota(dw, 0)), hn::Set(dw, bits % 2 * 4));
  const std::uint64_t two = (std::uint64_t{1} << 2 * bits) - 1;
  const std::uint64_t one = ((std::uint64_t{1} << bits) - 1) * 0x100000001u;
  const std::size_t touched = kGroup / 8 * bits - vector_bytes + touched_bytes(vector_bytes);
  for_each_group(in, n, bits, touched, [&](std::size_t first, const std::uint8_t* packed) {
    for (std::size_t i = first; i < first + kGroup; i += lanes) {
      const PackedVec moved = move_bytes(load_packed(packed, vector_bytes), index);
      LanesVec x = hn::Shr(hn::BitCast(dw, moved), within);
      x = separate(x, two, 32, 32 - 2 * bits);
      x = separate(x, one, 16, 16 - bits);
      hn::StoreU(hn::BitCast(dh, x), dh, fields + i);
      packed += vector_bytes;
    }
  });
}

}  // namespace
}  // namespace tributary::thc::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif

#endif
