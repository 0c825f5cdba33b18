// THC whose levels an aggregator in the network adds (core/collective/in_network): the table that
// the aggregator looks up, and the payloads on both sides of it.
//
// Levels have 4 bits. Sums have 8 bits if granularity x agents is at most 255, else 16 bits, so
// the parameter `down` follows from the number of agents. The result has the same bytes as that of
// the coordinator's aggregator for the same contributors. The functions are pure; a table may take
// some hundred milliseconds the first time.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/status.h"
#include "core/codec/codec.h"

namespace tributary::thc {

struct NetworkTable {
  std::uint32_t granularity = 0;
  std::array<std::uint16_t, 16> places = {};  // T[level]
  std::uint16_t fingerprint = 0;
  bool wide = false;  // sums of 16 bits
};

// Checks a job's codec. Returns unsupported for another codec than thc with bits=4, and for one
// with `rate` or with a `down` of its own.
Status check_network_codec(std::string_view spec);

// The codec with the width of sums for that many agents. Fails like check_network_codec().
Result<std::string> network_codec(std::string_view spec, std::uint32_t agents);

// The table of a codec of network_codec(). Returns unsupported for other codecs, and
// resource_exhausted if a sum of so many agents has more than 16 bits.
Result<NetworkTable> network_table(std::string_view spec, std::uint32_t agents);

// The packed levels of an agent's own payload of the last stage, which the caller has encoded. They
// point into it.
ByteSpan network_levels(ByteSpan payload);

// The combined payload of the last stage, from any contributor's own payload and the sums of all.
// Returns corrupt_data if a sum is larger than its contributors can produce, or if the number of
// bytes is not that of the levels.
Result<Bytes> network_result(const Execution& execution, ByteSpan own, ByteSpan sums,
                             std::uint32_t agents, const NetworkTable& table);

}  // namespace tributary::thc
