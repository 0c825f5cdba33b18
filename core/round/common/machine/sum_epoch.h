// Compares the epochs of two requests for sums in the network: buckets of one epoch share a client.
#pragma once

#include "core/round/common/machine/actions.h"

namespace tributary {

inline bool same_epoch(const SumInNetwork& a, const SumInNetwork& b) {
  return a.aggregator == b.aggregator && a.handle == b.handle && a.epoch == b.epoch;
}

}  // namespace tributary
