// The relay's loop: packets between pairs of TAPs, each direction through its own line.
#pragma once

#include <chrono>
#include <cstdint>
#include <vector>

#include "core/base/status.h"
#include "core/lab/link_settings.h"
#include "core/lab/packet_line.h"
#include "core/net/shaped/trace.h"
#include "tools/lab/lab_counts.h"

namespace tributary {

struct RelayDirection {
  int from = -1;
  int to = -1;
  PacketLine line;
  const LinkTrace* trace = nullptr;  // what changes the line as time goes by
  const TraceStep* step = nullptr;   // the one in force
  std::uint32_t mtu_bytes = 1500;
  DirectionCounts* counts = nullptr;
  int readable_slot = -1;
};

// Ends only with an error: when the TAPs are gone, or the process is killed.
Status run_relay_loop(std::vector<RelayDirection>& directions);

}  // namespace tributary
