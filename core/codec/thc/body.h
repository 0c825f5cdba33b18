// The body of a payload of THC's stage 1:
//
//   byte 0  u16  granularity g
//        2  u16  fingerprint of the table
//        4  f32  threshold t
//        8       fields, packed: one for each coordinate of the block layout
//
// In layout 0, fields have `bits` bits and are the levels of one agent. In layout w > 0, fields
// have w bits and are sums of the contributors' grid places; w follows from the number of
// contributors. The functions are pure.
#pragma once

#include "core/base/status.h"
#include "core/codec/payload.h"
#include "core/codec/thc/levels.h"

namespace tributary::thc {

constexpr std::size_t kStampBytes = 8;
constexpr std::uint8_t kLevelsLayout = 0;

// Size of packed fields in bytes. `coordinates` is a multiple of 64.
constexpr std::size_t fields_bytes(std::size_t coordinates, unsigned bits) {
  return coordinates / 8 * bits;
}

// Size of a sum in memory, which may have more bits than the field.
constexpr std::size_t lane_bytes(unsigned sum_bits) {
  return sum_bits <= 8 ? 1 : sum_bits <= 16 ? 2 : 4;
}

// Calls visit() with a zero of the type in which sums are kept in memory.
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

// Writes the first kStampBytes bytes of a body.
void write_stamp(const Levels& levels, std::uint8_t* body);

// The fields of a body after its checks; they point into the payload.
struct Fields {
  const std::uint8_t* data;
  bool sums;  // false: levels of one agent
  std::uint32_t contributors;
  unsigned sum_bits;  // bits of a field, if the fields are sums
};

// Checks an untrusted body, except for the fields themselves. Returns mismatch if another table or
// number of agents was planned, and corrupt_data for a wrong size.
Result<Fields> open_fields(const OpenPayload& payload, const Levels& levels,
                           std::size_t coordinates);

// A corrupt_data status for a sum that exceeds what its contributors can produce.
Status sum_too_large(const Levels& levels, std::uint32_t contributors);

}  // namespace tributary::thc
