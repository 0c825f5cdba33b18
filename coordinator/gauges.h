// The gauges of a coordinator: connected agents, versions of models, bytes in memory and on links.
//
// One thread, that of the state machine.
#pragma once

#include <cstdint>

#include "coordinator/coordinator_storage.h"
#include "core/net/transport.h"
#include "core/round/coordinator/coordinator.h"
#include "core/service/metrics/metrics.h"

namespace tributary {

class Gauges {
 public:
  // Bytes and messages on links since the start of the process.
  struct Sent {
    LinkCounters link;
    std::uint64_t dropped = 0;  // messages that no queue had room for
  };

  // Exports the gauges. Only one export in ten is also stored, which bounds the growth of the
  // journal.
  void publish(const Coordinator& machine, const Sent& sent, CoordinatorStorage& storage,
               Metrics& metrics);
  // The next export is stored in any case, as the last one of a process is.
  void store_next() { until_stored_ = 0; }

 private:
  std::uint32_t until_stored_ = 0;  // exports before the next one that is stored
};

}  // namespace tributary
