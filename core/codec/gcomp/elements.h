// The parts into which GComp divides a float32, and the arithmetic of one element. It is the
// specification for all kernels.
//
//   exponent   8 bits, Huffman coded
//   fraction   24 bits: the sign, then the 23 bits of the mantissa
//   level      how much of the fraction is sent: its upper 24 - 6 * level bits
//
// A value with exponent 0 is pruned: only its exponent is sent.
#pragma once

#include <bit>
#include <cstdint>

#include "core/base/host_device.h"

namespace tributary::gcomp {

constexpr unsigned kLevels = 4;
constexpr unsigned kBitsPerLevel = 6;
constexpr unsigned kFractionBits = 24;
constexpr std::uint32_t kNotFiniteExponent = 255;  // exponent of Inf and NaN

// Number of low bits of the fraction that a level omits, and number of bits that it sends.
TRIBUTARY_HD constexpr unsigned truncated_bits(unsigned level) { return kBitsPerLevel * level; }
TRIBUTARY_HD constexpr unsigned sent_bits(unsigned level) {
  return kFractionBits - truncated_bits(level);
}

TRIBUTARY_HD inline std::uint32_t exponent_of(std::uint32_t bits) { return (bits >> 23) & 0xffu; }

TRIBUTARY_HD inline std::uint32_t fraction_of(std::uint32_t bits) {
  return ((bits >> 8) & 0x800000u) | (bits & 0x7fffffu);
}

// The float32 bits of an exponent and a complete fraction.
TRIBUTARY_HD inline std::uint32_t join(std::uint32_t exponent, std::uint32_t fraction) {
  return ((fraction & 0x800000u) << 8) | (exponent << 23) | (fraction & 0x7fffffu);
}

}  // namespace tributary::gcomp
