// The vector form of random_bits() (core/base/random.h) for consecutive elements.
//
// Every lane returns the bits that random_bits() returns for its element. Highway includes this
// file once per instruction set, so it has no ordinary include guard; include it after
// hwy/highway.h.
#if defined(TRIBUTARY_CODEC_RANDOM_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef TRIBUTARY_CODEC_RANDOM_INL_H
#undef TRIBUTARY_CODEC_RANDOM_INL_H
#else
#define TRIBUTARY_CODEC_RANDOM_INL_H
#endif

#include <hwy/highway.h>
#include "core/base/random.h"

HWY_BEFORE_NAMESPACE();
namespace tributary::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// The position of a vector of draws within its stream. Advance it after each draw:
//   auto position = draw_position(du, key, first_element);
//   for (...) { bits = draw_bits(du, key, position); position = Add(position, draw_stride(du)); }
template <class D>
HWY_INLINE hn::Vec<D> draw_position(D du, StreamKey key, std::uint32_t first_element) {
  const auto elements = hn::Iota(du, first_element);
  return hn::Add(hn::Mul(elements, hn::Set(du, kWeylStep)), hn::Set(du, key.a + key.b));
}

// The distance between the positions of two consecutive vectors.
template <class D>
HWY_INLINE hn::Vec<D> draw_stride(D du) {
  return hn::Set(du, static_cast<std::uint32_t>(hn::Lanes(du)) * kWeylStep);
}

// The draws at a position. Two multiplications per lane; the same mix as random_bits().
template <class D, class V>
HWY_INLINE V draw_bits(D du, StreamKey key, V position) {
  V x = hn::Xor(position, hn::ShiftRight<16>(position));
  x = hn::Mul(x, hn::Set(du, kMixFirst));
  x = hn::Xor(x, hn::Set(du, key.b));
  x = hn::Xor(x, hn::ShiftRight<15>(x));
  x = hn::Mul(x, hn::Set(du, kMixSecond));
  return hn::Xor(x, hn::ShiftRight<15>(x));
}

}  // namespace tributary::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
