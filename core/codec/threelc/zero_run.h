// Zero-run encoding of quartic bytes: a run of k = 2 to 14 bytes of 121 (five zeros each) becomes
// the byte 243 + (k - 2), which is not a quartic byte. Longer runs are divided after 14 bytes; a
// single 121 is unchanged.
//
// This file contains the specification, and the parts that it shares with the SIMD version. The
// functions do not check bounds: the caller provides the space.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "core/codec/threelc/packing.h"

namespace tributary::threelc {

constexpr std::uint8_t kZeroByte = Quartic::kZeroByte;
constexpr std::size_t kRunMax = 14;
constexpr std::uint8_t kFirstRunByte = 243;
static_assert(kFirstRunByte + (kRunMax - 2) == 255);

// The byte for a run of 1 to kRunMax bytes. The entry for 0 is never written.
constexpr std::array<std::uint8_t, kRunMax + 1> kRunBytes = [] {
  std::array<std::uint8_t, kRunMax + 1> bytes = {0, kZeroByte};
  for (std::size_t k = 2; k <= kRunMax; ++k) {
    bytes[k] = static_cast<std::uint8_t>(kFirstRunByte + (k - 2));
  }
  return bytes;
}();

// Number of packed bytes that a coded byte represents.
constexpr std::size_t run_length(std::uint8_t byte) {
  return byte < kFirstRunByte ? 1 : byte - kFirstRunByte + std::size_t{2};
}

// Writes a run of any length and returns the end of the output.
inline std::uint8_t* put_run(std::size_t length, std::uint8_t* out) {
  const std::size_t whole = length / kRunMax;
  if (whole > 0) std::memset(out, 255, whole);
  out += whole;
  if (length % kRunMax > 0) *out++ = kRunBytes[length % kRunMax];
  return out;
}

// Encodes from words that mark the zero bytes. The time is proportional to the number of other
// bytes.
class ZeroRunWriter {
 public:
  ZeroRunWriter(const std::uint8_t* in, std::uint8_t* out) : in_(in), out_(out) {}

  // Adds in[at, at + 64); bit i of `zeros` is set if in[at + i] is the zero byte.
  void add_word(std::size_t at, std::uint64_t zeros) {
    for (std::uint64_t others = ~zeros; others != 0; others &= others - 1) {
      put_other(at + static_cast<std::size_t>(std::countr_zero(others)));
    }
  }
  void add_byte(std::size_t at) {
    if (in_[at] != kZeroByte) put_other(at);
  }
  // Ends the input after n bytes and returns the end of the output.
  std::uint8_t* finish(std::size_t n) { return put_run(n - done_, out_); }

 private:
  // The byte at `at` is not the zero byte; all bytes from done_ up to it are.
  void put_other(std::size_t at) {
    const std::size_t run = at - done_;
    if (run > kRunMax) {
      out_ = put_run(run, out_);
    } else {
      *out_ = kRunBytes[run];
      out_ += static_cast<std::size_t>(run > 0);
    }
    *out_++ = in_[at];
    done_ = at + 1;
  }

  const std::uint8_t* in_;
  std::uint8_t* out_;
  std::size_t done_ = 0;
};

}  // namespace tributary::threelc
