#include "core/codec/thc/body.h"

#include <fmt/format.h>

#include <bit>

#include <cstring>

namespace tributary::thc {
namespace {

// The first bytes of a body; they identify the table.
struct Stamp {
  std::uint16_t granularity;
  std::uint16_t fingerprint;
  float threshold;

  friend bool operator==(const Stamp& a, const Stamp& b) {
    return a.granularity == b.granularity && a.fingerprint == b.fingerprint &&
           std::bit_cast<std::uint32_t>(a.threshold) == std::bit_cast<std::uint32_t>(b.threshold);
  }
};
static_assert(sizeof(Stamp) == kStampBytes);

Stamp stamp_of(const Levels& levels) {
  return {.granularity = static_cast<std::uint16_t>(levels.granularity),
          .fingerprint = levels.fingerprint,
          .threshold = levels.threshold};
}

}  // namespace

void write_stamp(const Levels& levels, std::uint8_t* body) {
  const Stamp stamp = stamp_of(levels);
  std::memcpy(body, &stamp, sizeof(stamp));
}

Result<Fields> open_fields(const OpenPayload& payload, const Levels& levels,
                           std::size_t coordinates) {
  const PayloadHeader& header = payload.header;
  const bool sums = header.layout != kLevelsLayout;
  const unsigned sum_bits = levels.sum_bits_of(header.contributors);
  if (sums ? header.layout != sum_bits : header.contributors != 1) {
    return Status(StatusCode::mismatch,
                  {.what = "layout of THC levels",
                   .expected = fmt::format(
                       "0 for one contributor, or {} for sums of that many bits", sum_bits),
                   .got = fmt::format("{} for {}", header.layout, header.contributors),
                   .remedy = "plan the round for the same number of agents everywhere"});
  }
  const std::size_t bytes = kStampBytes + fields_bytes(coordinates, sums ? sum_bits : levels.bits);
  if (payload.body.size() != bytes) {
    return wrong_body_size("THC levels", bytes, payload.body.size());
  }
  const Stamp expected = stamp_of(levels);
  Stamp stamp;
  std::memcpy(&stamp, payload.body.data(), sizeof(stamp));
  if (stamp != expected) {
    return Status(StatusCode::mismatch,
                  {.what = "table of THC levels",
                   .expected = fmt::format("granularity {}, fingerprint {:#06x}",
                                           expected.granularity, expected.fingerprint),
                   .got = "another table",
                   .remedy = "plan the round for the same number of agents everywhere"});
  }
  return Fields{.data = payload.body.data() + kStampBytes,
                .sums = sums,
                .contributors = header.contributors,
                .sum_bits = sum_bits};
}

Status sum_too_large(const Levels& levels, std::uint32_t contributors) {
  return Status(
      StatusCode::corrupt_data,
      {.what = "sums of THC levels",
       .expected = fmt::format("at most {}, {} times the granularity",
                               std::uint64_t{levels.granularity} * contributors, contributors),
       .got = "larger ones",
       .remedy = "have the bucket sent again"});
}

}  // namespace tributary::thc
