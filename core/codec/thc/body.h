// The body of a payload of stage 1:
//
//   byte 0  u16  granularity g
//        2  u16  fingerprint of the table
//        4  f32  threshold t
//        8       fields, packed: one for each coordinate of the block layout
//
// Layout 0: fields of `bits` bits, the levels of one agent. Layout w > 0: fields of w bits, the
// sums of the places of its contributors' levels, as wide as their number needs.
#pragma once

#include "core/base/status.h"
#include "core/codec/payload.h"
#include "core/codec/thc/levels.h"

namespace tributary::thc {

constexpr std::size_t kStampBytes = 8;
constexpr std::uint8_t kLevelsLayout = 0;

constexpr std::size_t fields_bytes(std::size_t coordinates, unsigned bits) {
  return coordinates / 8 * bits;
}

// Bytes of a sum in memory, where its bits are fewer.
constexpr std::size_t lane_bytes(unsigned sum_bits) {
  return sum_bits <= 8 ? 1 : sum_bits <= 16 ? 2 : 4;
}

// visit(std::uint8_t()), or the wider type in which sums are kept.
template <typename Visit>
auto with_lane(unsigned sum_bits, const Visit& visit) {
  switch (lane_bytes(sum_bits)) {
    case 1:
      return visit(std::uint8_t());
    case 2:
      return visit(std::uint16_t());
    default:
      return visit(std::uint32_t());
  }
}

void write_stamp(const Levels& levels, std::uint8_t* body);

struct Fields {
  const std::uint8_t* data;
  bool sums;  // or levels
  std::uint32_t contributors;
  unsigned sum_bits;  // of a field, where they are sums
};

// Checks all but the fields themselves.
Result<Fields> open_fields(const OpenPayload& payload, const Levels& levels,
                           std::size_t coordinates);

Status sum_too_large(const Levels& levels, std::uint32_t contributors);

}  // namespace tributary::thc
