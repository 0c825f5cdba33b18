// The settings of an agent, as read from flags and the settings file. docs/run.md describes every
// setting.
//
// Reading has no effect but opening the files that the settings name, among them the join file with
// the agent's keys. The result is complete: an agent starts from it without asking the environment.
#pragma once

#include <cstdint>
#include <string>

#include "core/net/shaped/shaped.h"
#include "core/net/udp/udp_address.h"
#include "core/round/agent/agent.h"
#include "core/service/settings/common_settings.h"
#include "core/service/settings/journal_settings.h"
#include "core/service/settings/spoke_settings.h"
#include "core/train/trainer.h"
#include "edge_agent/device/encoding_device.h"

namespace tributary {

enum class PeerTransport : std::uint8_t { tcp, mpi };

// Plain values; the defaults are the documented ones.
struct AgentSettings {
  CommonSettings common;
  AgentConfig machine;
  JournalSettings journal;
  SpokeSettings link;
  std::uint64_t shape_bytes_per_s = 0;  // bound on the upload rate; 0: none
  // Bytes that may be sent at once after an idle period.
  std::uint64_t shape_burst_bytes = 64u << 10;
  std::string shape_trace;  // trace file (core/net/shaped/trace.h) instead of a rate
  PeerTransport peers_transport = PeerTransport::tcp;
  std::string peers_endpoint;     // for TCP; empty: only the coordinator combines updates
  std::string peers_advertise;    // endpoint to announce to peers instead
  std::string peers_shape_trace;  // trace file of the simulated link to peers, for any transport
  // For sums in the network; empty: this agent takes no part in them, because levels and sums
  // travel unencrypted.
  UdpAddress in_network_listen;
  UdpAddress in_network_group;  // multicast group of the results; empty: each agent gets its own
  std::string trainer = "synthetic";
  TrainerOptions training;
  DeviceSetting codec_device = DeviceSetting::automatic;
  bool audit = false;
  bool exit_when_done = false;
};

// Reads and checks the settings. An error names the setting, its bounds and its origin.
Result<AgentSettings> read_agent_settings(const DaemonFlags& flags);

}  // namespace tributary
