// What an agent is told: docs/run.md describes every setting.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/net/keys/keys.h"
#include "core/net/shaped/shaped.h"
#include "core/round/agent/agent.h"
#include "core/service/settings/common_settings.h"
#include "core/train/trainer.h"

namespace tributary {

enum class PeerTransport : std::uint8_t { tcp, mpi };

struct AgentSettings {
  CommonSettings common;
  AgentConfig machine;
  std::string journal;
  bool journal_sync = true;
  std::string coordinator;  // its endpoint
  std::string coordinator_key;
  std::string key_file;
  std::string join_file;
  std::optional<KeyPair> keys;  // that the join file holds
  bool encrypted = true;
  std::uint64_t shape_bytes_per_s = 0;          // of what is sent; 0: as the line allows
  std::uint64_t shape_burst_bytes = 64u << 10;  // that go at once where nothing went for a while
  std::string shape_trace;                      // a file (core/net/shaped/trace.h), instead
  PeerTransport peers_transport = PeerTransport::tcp;
  std::string peers_endpoint;     // over TCP; empty: it exchanges by the coordinator alone
  std::string peers_advertise;    // what others are told instead
  std::string peers_shape_trace;  // a file: what the line to peers is like, whatever it goes by
  std::string trainer = "synthetic";
  TrainerOptions training;
  bool audit = false;
  bool exit_when_done = false;
};

Result<AgentSettings> read_agent_settings(const DaemonFlags& flags);

}  // namespace tributary
