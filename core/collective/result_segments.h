// The division of a result among the members that upload it to the coordinator after an exchange
// among peers or in the network: segments of nearly equal size, one for each member, as long as
// none is smaller than kSegmentBytesMin.
//
// Pure functions. Coordinator and agents compute the same segments from the result's size.
#pragma once

#include <algorithm>
#include <cstdint>

#include "core/base/bytes/byte_ranges.h"

namespace tributary {

// A message costs both sides more than a smaller segment would save.
constexpr std::uint64_t kSegmentBytesMin = 4u << 10;

// Returns the number of segments of a result, at least 1 and at most `agents`.
inline std::uint32_t segments_of(std::uint64_t bytes, std::uint32_t agents) {
  return static_cast<std::uint32_t>(std::clamp<std::uint64_t>(bytes / kSegmentBytesMin, 1, agents));
}

// Returns the bytes of a segment. Requires segment < segments.
inline ByteRange segment_range(std::uint64_t bytes, std::uint32_t segments, std::uint32_t segment) {
  const std::uint64_t first = bytes * segment / segments;
  return {.first = first, .count = bytes * (segment + 1) / segments - first};
}

}  // namespace tributary
