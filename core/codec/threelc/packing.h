// Packs several digits of -1, 0 and 1 in a byte.
//
// A part of `count` values is padded with zeros to a multiple of kDigits and divided into kDigits
// contiguous stripes. Byte i holds value i of every stripe, with the first stripe's digit in the
// highest place; 1 is added to every digit. Packing and unpacking therefore work on kDigits streams
// of consecutive floats, which needs no shuffle in SIMD.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "core/base/host_device.h"

namespace tributary::threelc {

// Packs kPlaces digits in a byte, in base kBase.
template <int kBase, std::size_t kPlaces>
struct Packing {
  static constexpr std::size_t kDigits = kPlaces;

  // kWeights[j] is the weight of the digit of stripe j. kRests[j] is the maximum sum of all lower
  // digits; a larger rest means that the digit is not 0.
  static constexpr std::array<int, kDigits> kWeights = [] {
    std::array<int, kDigits> weights = {};
    int weight = 1;
    for (std::size_t j = kDigits; j-- > 0; weight *= kBase) weights[j] = weight;
    return weights;
  }();
  static constexpr std::array<int, kDigits> kRests = [] {
    std::array<int, kDigits> rests = {};
    for (std::size_t j = kDigits - 1; j > 0; --j) rests[j - 1] = rests[j] + kWeights[j];
    return rests;
  }();

  // The byte whose digits are all 0, which is also the sum of the added ones.
  static constexpr int kZeroByte = kRests[0] + kWeights[0];

  static constexpr std::size_t bytes(std::size_t count) { return (count + kDigits - 1) / kDigits; }
};

// Quartic encoding: a·3⁴ + b·3³ + c·3² + d·3 + e, 1.6 bits per value. Bytes are 0 to 242.
struct Quartic : Packing<3, 5> {
  static constexpr std::uint8_t kByteMax = 242;
};
static_assert(Quartic::kZeroByte == 121);

// Two bits per value; the pattern 3 is not used.
struct TwoBit : Packing<4, 4> {};
static_assert(TwoBit::kZeroByte == 0b01010101);

// The bytes of a part that a loop processes.
struct PackedRange {
  std::size_t count;  // values of the complete part
  std::size_t begin;  // bytes [begin, end) of its packed form
  std::size_t end;
};

// The end of the bytes that have a value in every stripe. Only the few bytes after it require a
// check for the end of the part.
template <class P>
constexpr std::size_t end_of_full_bytes(const PackedRange& range) {
  const std::size_t before_last_stripe = P::bytes(range.count) * (P::kDigits - 1);
  const std::size_t full = range.count > before_last_stripe ? range.count - before_last_stripe : 0;
  return full < range.begin ? range.begin : full < range.end ? full : range.end;
}

// Packs one byte. digit(index) is the digit of value `index` of the part.
template <class P, typename Digit>
TRIBUTARY_HD std::uint8_t pack_byte(std::size_t count, std::size_t at, const Digit& digit) {
  int byte = P::kZeroByte;
  for (std::size_t j = 0, index = at; j < P::kDigits && index < count;
       ++j, index += P::bytes(count)) {
    byte += digit(index) * P::kWeights[j];
  }
  return static_cast<std::uint8_t>(byte);
}

// Calls use(index, digit) for every digit of a byte except padding.
template <class P, typename Use>
TRIBUTARY_HD void unpack_byte(std::uint8_t byte, std::size_t count, std::size_t at,
                              const Use& use) {
  int rest = static_cast<int>(byte) - P::kZeroByte;
  for (std::size_t j = 0, index = at; j < P::kDigits && index < count;
       ++j, index += P::bytes(count)) {
    const int digit =
        static_cast<int>(rest > P::kRests[j]) - static_cast<int>(rest < -P::kRests[j]);
    rest -= digit * P::kWeights[j];
    use(index, digit);
  }
}

}  // namespace tributary::threelc
