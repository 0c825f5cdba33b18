// Derives the rate of a link from the arrival times of a probe train's parts. Pure.
//
// A receiver that is busy, or sleeps longer than a part takes, finds parts in its queue and would
// overestimate the rate. So an arrival time counts only if the receiver was waiting for the part.
// The first time counts only if the receiver also waited for the next part: its error is then at
// most the duration of that part. A late end and all other delays make the link seem slower, not
// faster, and an estimator recognizes readings that are too slow (link_estimator.h).
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "core/link_quality/link_estimator.h"

namespace tributary {

// A received part of a train.
struct ProbePart {
  double bytes = 0;
  // Arrival time; 0 if the receiver was not waiting for this part.
  std::uint64_t at_ns = 0;
};

// Empty if too many parts were found in a queue. The caller sets LinkTransfer::at_s.
std::optional<LinkTransfer> transfer_of(std::span<const ProbePart> parts);

}  // namespace tributary
