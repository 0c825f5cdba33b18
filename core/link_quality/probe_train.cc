#include "core/link_quality/probe_train.h"

#include <cstddef>

namespace tributary {

std::optional<LinkTransfer> transfer_of(std::span<const ProbePart> parts) {
  // The first usable time is that of a part for which the receiver waited, and also for the next
  // one.
  std::size_t first = 0;
  while (first + 1 < parts.size() && (parts[first].at_ns == 0 || parts[first + 1].at_ns == 0)) {
    ++first;
  }
  if (first + 1 >= parts.size()) return std::nullopt;
  std::size_t last = parts.size() - 1;
  while (parts[last].at_ns == 0) --last;
  // A reading must cover at least half of the train.
  if (2 * (last - first) < parts.size() - 1 || parts[last].at_ns <= parts[first].at_ns) {
    return std::nullopt;
  }
  LinkTransfer transfer{.kind = TransferKind::train};
  for (std::size_t i = first + 1; i <= last; ++i) transfer.bytes += parts[i].bytes;
  transfer.seconds = static_cast<double>(parts[last].at_ns - parts[first].at_ns) / 1e9;
  return transfer;
}

}  // namespace tributary
