// The rotation of a block for kernels_simd.cc. It performs the butterflies of the specification
// stride by stride, but up to four strides per pass over the block. Values are exchanged among 16
// vectors or, for strides below the vector's length, within a vector. Highway includes this file
// once per instruction set.
#if defined(TRIBUTARY_CODEC_THC_HADAMARD_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef TRIBUTARY_CODEC_THC_HADAMARD_INL_H
#undef TRIBUTARY_CODEC_THC_HADAMARD_INL_H
#else
#define TRIBUTARY_CODEC_THC_HADAMARD_INL_H
#endif

#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include "core/codec/thc/elements.h"

#if HWY_TARGET != HWY_SCALAR
HWY_BEFORE_NAMESPACE();
namespace tributary::thc::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

using Float = hn::CappedTag<float, 16>;
using Int32 = hn::RebindToSigned<Float>;
using Uint32 = hn::RebindToUnsigned<Float>;
using FloatVec = hn::Vec<Float>;
using IntVec = hn::Vec<Int32>;
using UintVec = hn::Vec<Uint32>;

// Magnitudes have no sign bit, so a signed maximum orders them; every instruction set has a signed
// maximum.
HWY_INLINE IntVec magnitudes(FloatVec x) {
  const Int32 di;
  return hn::And(hn::BitCast(di, x), hn::Set(di, static_cast<std::int32_t>(kMagnitudeMask)));
}

HWY_INLINE std::uint32_t largest_lane(IntVec magnitude) {
  return static_cast<std::uint32_t>(hn::GetLane(hn::MaxOfLanes(Int32(), magnitude)));
}

// Combines lane i with lane i ^ stride: a sum if that bit of i is 0, a difference if it is 1.
template <int kStride>
HWY_INLINE FloatVec butterflies_within(FloatVec v) {
  const Float df;
  const Uint32 du;
  constexpr int kBit = kStride == 1 ? 0 : kStride == 2 ? 1 : kStride == 4 ? 2 : 3;
  const UintVec lane = hn::Iota(du, 0);
  const UintVec minus = hn::ShiftLeft<31>(hn::ShiftRight<kBit>(lane));
  const FloatVec own = hn::Xor(v, hn::BitCast(df, minus));
  if constexpr (kStride == 1) {
    return hn::Add(hn::Shuffle2301(v), own);
  } else if constexpr (kStride == 2) {
    return hn::Add(hn::Shuffle1032(v), own);
  } else {
    const auto partner = hn::IndicesFromVec(df, hn::Xor(lane, hn::Set(du, kStride)));
    return hn::Add(hn::TableLookupLanes(v, partner), own);
  }
}

HWY_INLINE FloatVec butterflies_within(FloatVec v) {
  const std::size_t lanes = hn::Lanes(Float());
  v = butterflies_within<1>(v);
  v = butterflies_within<2>(v);
  if (lanes > 4) v = butterflies_within<4>(v);
  if (lanes > 8) v = butterflies_within<8>(v);
  return v;
}

HWY_INLINE void butterfly(FloatVec& a, FloatVec& b) {
  const FloatVec sum = hn::Add(a, b);
  b = hn::Sub(a, b);
  a = sum;
}

HWY_INLINE void butterflies4(FloatVec& a, FloatVec& b, FloatVec& c, FloatVec& d) {
  butterfly(a, b);
  butterfly(c, d);
  butterfly(a, c);
  butterfly(b, d);
}

// The sources and destinations of the vectors of a pass.
struct Memory {
  float* y;
  HWY_INLINE FloatVec load(std::size_t i) const { return hn::LoadU(Float(), y + i); }
  HWY_INLINE void store(FloatVec v, std::size_t i) const { hn::StoreU(v, Float(), y + i); }
};

struct WithinVectors {
  const float* y;
  HWY_INLINE FloatVec load(std::size_t i) const {
    return butterflies_within(hn::LoadU(Float(), y + i));
  }
};

// Returns v · (±factor), with the signs of elements i, i + 1, ...
HWY_INLINE FloatVec times_signed(FloatVec v, const std::uint32_t* signs, float factor,
                                 std::size_t i) {
  const Float df;
  const std::uint8_t* bits = reinterpret_cast<const std::uint8_t*>(signs) + i / 8;
  const std::uint8_t nibble[8] = {static_cast<std::uint8_t>(*bits >> (i % 8))};
  if (hn::Lanes(df) < 8) bits = nibble;
  const auto negative = hn::LoadMaskBits(df, bits);
  return hn::Mul(v, hn::IfThenElse(negative, hn::Set(df, -factor), hn::Set(df, factor)));
}

// Prefetches the value one block further on, which is needed next. Otherwise the first pass over
// every block waits for memory. A prefetch of an address after the bucket has no effect.
HWY_INLINE void prefetch_next_block(const float* x, std::size_t block) {
  const std::uintptr_t next = reinterpret_cast<std::uintptr_t>(x) + block * sizeof(float);
  hwy::Prefetch(reinterpret_cast<const float*>(next));  // NOLINT(performance-no-int-to-ptr)
}

struct SignedWithinVectors {
  const float* x;
  std::size_t block;
  const std::uint32_t* signs;
  float factor;
  HWY_INLINE FloatVec load(std::size_t i) const {
    prefetch_next_block(x + i, block);
    return butterflies_within(times_signed(hn::LoadU(Float(), x + i), signs, factor, i));
  }
};

template <typename In>
HWY_INLINE void radix16(const In& in, const Memory& out, std::size_t i, std::size_t s) {
  FloatVec v0 = in.load(i), v1 = in.load(i + s), v2 = in.load(i + 2 * s), v3 = in.load(i + 3 * s);
  butterflies4(v0, v1, v2, v3);
  FloatVec v4 = in.load(i + 4 * s), v5 = in.load(i + 5 * s), v6 = in.load(i + 6 * s),
           v7 = in.load(i + 7 * s);
  butterflies4(v4, v5, v6, v7);
  FloatVec v8 = in.load(i + 8 * s), v9 = in.load(i + 9 * s), v10 = in.load(i + 10 * s),
           v11 = in.load(i + 11 * s);
  butterflies4(v8, v9, v10, v11);
  FloatVec v12 = in.load(i + 12 * s), v13 = in.load(i + 13 * s), v14 = in.load(i + 14 * s),
           v15 = in.load(i + 15 * s);
  butterflies4(v12, v13, v14, v15);

  butterflies4(v0, v4, v8, v12);
  out.store(v0, i), out.store(v4, i + 4 * s), out.store(v8, i + 8 * s), out.store(v12, i + 12 * s);
  butterflies4(v1, v5, v9, v13);
  out.store(v1, i + s), out.store(v5, i + 5 * s), out.store(v9, i + 9 * s);
  out.store(v13, i + 13 * s);
  butterflies4(v2, v6, v10, v14);
  out.store(v2, i + 2 * s), out.store(v6, i + 6 * s), out.store(v10, i + 10 * s);
  out.store(v14, i + 14 * s);
  butterflies4(v3, v7, v11, v15);
  out.store(v3, i + 3 * s), out.store(v7, i + 7 * s), out.store(v11, i + 11 * s);
  out.store(v15, i + 15 * s);
}

template <typename In>
HWY_INLINE void radix4(const In& in, const Memory& out, std::size_t i, std::size_t s) {
  FloatVec v0 = in.load(i), v1 = in.load(i + s), v2 = in.load(i + 2 * s), v3 = in.load(i + 3 * s);
  butterflies4(v0, v1, v2, v3);
  out.store(v0, i), out.store(v1, i + s), out.store(v2, i + 2 * s), out.store(v3, i + 3 * s);
}

// Performs the next strides of the block from `stride` on, and returns the first remaining stride.
template <typename In>
HWY_INLINE std::size_t pass(const In& in, const Memory& y, std::size_t block, std::size_t stride) {
  const std::size_t lanes = hn::Lanes(Float());
  const std::size_t radix = block / stride >= 16 ? 16 : block / stride >= 4 ? 4 : 2;
  for (std::size_t base = 0; base < block; base += radix * stride) {
    for (std::size_t i = base; i < base + stride; i += lanes) {
      if (radix == 16) {
        radix16(in, y, i, stride);
      } else if (radix == 4) {
        radix4(in, y, i, stride);
      } else {
        FloatVec a = in.load(i), b = in.load(i + stride);
        butterfly(a, b);
        y.store(a, i), y.store(b, i + stride);
      }
    }
  }
  return stride * radix;
}

// A block has at least 64 values and a vector at most 16, so the first pass always has a stride to
// perform.
template <typename In>
HWY_INLINE void rotate(const In& in, float* y, std::size_t block) {
  std::size_t stride = pass(in, Memory{y}, block, hn::Lanes(Float()));
  while (stride < block) stride = pass(Memory{y}, Memory{y}, block, stride);
}

void spread(const float* HWY_RESTRICT x, std::size_t block, const std::uint32_t* HWY_RESTRICT signs,
            float factor, float* HWY_RESTRICT y) {
  rotate(SignedWithinVectors{x, block, signs, factor}, y, block);
}

std::uint32_t collect(float* HWY_RESTRICT y, std::size_t block,
                      const std::uint32_t* HWY_RESTRICT signs, float factor) {
  rotate(WithinVectors{y}, y, block);
  const Float df;
  IntVec largest = hn::Zero(Int32());
  for (std::size_t i = 0; i < block; i += hn::Lanes(df)) {
    const FloatVec x = times_signed(hn::LoadU(df, y + i), signs, factor, i);
    largest = hn::Max(largest, magnitudes(x));
    hn::StoreU(x, df, y + i);
  }
  return largest_lane(largest);
}

}  // namespace
}  // namespace tributary::thc::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif

#endif
