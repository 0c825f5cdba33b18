// The loops of this family, once as the plain specification and once in SIMD (Highway, at the best
// width that the machine has). Both give the same bits; a test holds them together.
//
// Assumptions: `x` and `sum` point to the first value of a part and are aligned to 4 bytes; input
// and output do not overlap, except that `sum` is both. Packed bytes of a range lie from in[0] or
// out[0] on, wherever the range begins.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/base/random.h"
#include "core/codec/codec.h"
#include "core/codec/threelc/packing.h"

namespace tributary::threelc {

// zero_run_decode may write this many bytes behind the last one that counts.
constexpr std::size_t kDecodeSlackBytes = 64;

// For packed bytes that are made at random; the quartic ones can be made by rounding, too.
struct PackingKernels {
  // Draws are those of the elements from `first_element` on, which is that of x[0].
  void (*pack_random)(const float* x, const PackedRange& range, float unit, StreamKey key,
                      std::uint32_t first_element, std::uint8_t* out);
  void (*unpack)(const std::uint8_t* in, const PackedRange& range, float unit, float* x);
  // A digit of 0 leaves its sum as it is, whatever that is.
  void (*unpack_add)(const std::uint8_t* in, const PackedRange& range, float unit, float* sum);
};

struct Kernels {
  // The largest magnitude as bits: kInfinityBits or more says that a value was Inf or NaN.
  std::uint32_t (*largest_magnitude)(const float* x, std::size_t n);

  void (*pack_nearest)(const float* x, const PackedRange& range, float level, std::uint8_t* out);
  PackingKernels quartic;
  PackingKernels two_bit;

  // Returns how many bytes it wrote: n at most.
  std::size_t (*zero_run_encode)(const std::uint8_t* in, std::size_t n, std::uint8_t* out);
  // How many bytes zero_run_decode is going to write. It is n where no byte stands for a run, so
  // it also tells whether plain quartic bytes are valid.
  std::size_t (*zero_run_decoded_bytes)(const std::uint8_t* in, std::size_t n);
  void (*zero_run_decode)(const std::uint8_t* in, std::size_t n, std::uint8_t* out);

  // Whether no two bits hold 3.
  bool (*two_bit_valid)(const std::uint8_t* in, std::size_t n);
};

const Kernels& scalar_kernels();
const Kernels& simd_kernels();

inline const Kernels& kernels(Backend backend) {
  return backend == Backend::scalar ? scalar_kernels() : simd_kernels();
}

}  // namespace tributary::threelc
