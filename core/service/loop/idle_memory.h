// Returns memory that a daemon's block cache has not used for a minute to the system. Every daemon
// has one and calls look() from the thread of its periodic tasks.
#pragma once

#include "core/base/bytes/block_cache.h"
#include "core/round/common/machine/events.h"

namespace tributary {

class IdleMemory {
 public:
  void look(TimeNs now) {
    if (now < due_at_ns_) return;
    due_at_ns_ = now + kEveryNs;
    block_cache().unmap_idle();
  }

 private:
  static constexpr TimeNs kEveryNs = 60'000 * kNsPerMs;

  TimeNs due_at_ns_ = 0;
};

}  // namespace tributary
