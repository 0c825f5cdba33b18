// What a train of probes says of the rate of a line, from when its parts came. Pure.
//
// A receiver that is busy, or asleep for longer than a part takes, finds parts in its queue and
// would take the line for a quick one. So a time counts only where the receiver was waiting, and
// the first one only where it waited again for the part after it: then it was not late by more than
// that part took. A late end, and whatever else takes time, makes the line slower and not quicker,
// and what is too slow an estimator can tell (link_estimator.h).
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "core/link_quality/link_estimator.h"

namespace tributary {

struct ProbePart {
  double bytes = 0;
  // When it had come; 0: nobody was waiting for it.
  std::uint64_t at_ns = 0;
};

// Nothing: too many parts lay in a queue. When it was is the caller's to set (LinkTransfer::at_s).
std::optional<LinkTransfer> transfer_of(std::span<const ProbePart> parts);

}  // namespace tributary
