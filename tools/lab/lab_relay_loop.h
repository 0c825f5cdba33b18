// The relay's loop: it carries packets between pairs of TAPs, each direction through its own
// PacketLink. It runs in one thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <vector>

#include "core/base/status.h"
#include "core/lab/link_settings.h"
#include "core/lab/packet_link.h"
#include "core/net/shaped/trace.h"
#include "tools/lab/lab_counts.h"

namespace tributary {

// One direction of a link. The loop owns none of its pointers or files.
struct RelayDirection {
  int from = -1;
  int to = -1;
  PacketLink link;
  const LinkTrace* trace = nullptr;  // changes the link over time; null: constant
  const TraceStep* step = nullptr;   // the step in force
  std::uint32_t mtu_bytes = 1500;
  DirectionCounts* counts = nullptr;
  int readable_slot = -1;
};

// Returns only an error, for instance when the TAPs are gone. The process is normally killed.
Status run_relay_loop(std::vector<RelayDirection>& directions);

}  // namespace tributary
