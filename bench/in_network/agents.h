// Agents that exchange buckets through an aggregator without a pause, and check every sum. One
// thread; blocks until the rounds or the time are over.
#pragma once

#include <cstdint>
#include <vector>

#include "core/base/status.h"
#include "core/net/udp/udp_address.h"

namespace tributary::bench {

// Agents first .. first + count - 1 of a job with this table: T[level] = 2 x level.
struct AgentsSettings {
  UdpAddress aggregator;
  UdpAddress group;  // where results arrive; empty: at each agent's own port
  std::uint16_t job = 7;
  std::uint32_t epoch = 1;
  std::uint8_t agents = 4;
  std::uint8_t first = 0;
  std::uint8_t count = 4;
  std::uint16_t table = 99;
  std::uint32_t values = 1u << 20;  // of a bucket
  std::uint32_t slots = 256;
  std::uint32_t window = 128;
  std::uint32_t timeout_ms_min = 10;  // of a repeat; a busy machine wakes programs late
  std::uint32_t rounds = 10;          // buckets
  bool segments = true;               // let the kernel cut and join datagrams
  double seconds = 0;                 // no further bucket begins after them; 0: no limit
};

struct AgentsFigures {
  std::vector<double> began_s;  // of each bucket, by the machine's clock
  std::vector<double> round_s;
  std::uint64_t contributions = 0;
  std::uint64_t repeats = 0;
  std::uint32_t window = 0;  // of the first agent, at the end
  double cpu_s = 0;          // of this process
};

// Returns mismatch for a wrong sum, and unavailable for a bucket that is refused or not complete
// after a minute.
Result<AgentsFigures> run_agents(const AgentsSettings& settings);

}  // namespace tributary::bench
