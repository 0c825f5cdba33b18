#include <algorithm>

#include "core/codec/threelc/elements.h"
#include "core/codec/threelc/kernels.h"
#include "core/codec/threelc/zero_run.h"

namespace tributary::threelc {
namespace {

std::uint32_t largest_magnitude(const float* x, std::size_t n) {
  std::uint32_t largest = 0;
  for (std::size_t i = 0; i < n; ++i) largest = std::max(largest, magnitude_bits(x[i]));
  return largest;
}

double sum_of_squares(const float* x, std::size_t n) {
  double lanes[kSquareLanes] = {};
  std::size_t i = 0;
  for (; i + kSquareLanes <= n; i += kSquareLanes) {
    for (std::size_t k = 0; k < kSquareLanes; ++k) {
      const auto value = static_cast<double>(x[i + k]);
      lanes[k] += value * value;
    }
  }
  return finish_sum_of_squares(x, i, n, lanes);
}

// The loops run over bytes, and a byte's digits lie in different stripes of the part (packing.h).
void pack_nearest(const float* x, const PackedRange& range, float level, std::uint8_t* out) {
  for (std::size_t at = range.begin; at < range.end; ++at) {
    out[at - range.begin] = pack_byte<Quartic>(
        range.count, at, [&](std::size_t index) { return digit_of(x[index], level); });
  }
}

template <class P>
void pack_random(const float* x, const PackedRange& range, float unit, StreamKey key,
                 std::uint32_t first_element, std::uint8_t* out) {
  for (std::size_t at = range.begin; at < range.end; ++at) {
    out[at - range.begin] = pack_byte<P>(range.count, at, [&](std::size_t index) {
      const auto element = first_element + static_cast<std::uint32_t>(index);
      return digit_of(x[index], random_level(unit, random_bits(key, element)));
    });
  }
}

template <class P>
void unpack(const std::uint8_t* in, const PackedRange& range, float unit, float* x) {
  for (std::size_t at = range.begin; at < range.end; ++at) {
    unpack_byte<P>(in[at - range.begin], range.count, at, [&](std::size_t index, int digit) {
      x[index] = 0.0f - negated_value(digit, unit);
    });
  }
}

template <class P>
void unpack_add(const std::uint8_t* in, const PackedRange& range, float unit, float* sum) {
  for (std::size_t at = range.begin; at < range.end; ++at) {
    unpack_byte<P>(in[at - range.begin], range.count, at,
                   [&](std::size_t index, int digit) { sum[index] -= negated_value(digit, unit); });
  }
}

template <class P>
constexpr PackingKernels kPackingKernels = {
    .pack_random = pack_random<P>, .unpack = unpack<P>, .unpack_add = unpack_add<P>};

// Runs are found with the longest match first. The output is never longer than the input.
std::size_t zero_run_encode(const std::uint8_t* in, std::size_t n, std::uint8_t* out) {
  std::uint8_t* const first = out;
  for (std::size_t i = 0; i < n;) {
    if (in[i] != kZeroByte) {
      *out++ = in[i++];
      continue;
    }
    const std::uint8_t* const end =
        std::find_if(in + i, in + n, [](std::uint8_t byte) { return byte != kZeroByte; });
    const auto length = static_cast<std::size_t>(end - (in + i));
    out = put_run(length, out);
    i += length;
  }
  return static_cast<std::size_t>(out - first);
}

// The sum cannot overflow: a chunk's length has 16 bits, and a byte represents at most 14.
std::size_t zero_run_decoded_bytes(const std::uint8_t* in, std::size_t n) {
  std::size_t total = 0;
  for (std::size_t i = 0; i < n; ++i) total += run_length(in[i]);
  return total;
}

void zero_run_decode(const std::uint8_t* in, std::size_t n, std::uint8_t* out) {
  for (std::size_t i = 0; i < n; ++i) {
    const std::size_t length = run_length(in[i]);
    std::memset(out, in[i] < kFirstRunByte ? in[i] : kZeroByte, length);
    out += length;
  }
}

bool two_bit_valid(const std::uint8_t* in, std::size_t n) {
  std::uint32_t threes = 0;
  for (std::size_t i = 0; i < n; ++i) threes |= in[i] & (in[i] >> 1) & 0b01010101u;
  return threes == 0;
}

}  // namespace

const Kernels& scalar_kernels() {
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
  return kKernels;
}

}  // namespace tributary::threelc
