// The configuration of an agent's state machine.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/codec/codec.h"
#include "core/round/common/machine/events.h"

namespace tributary {

struct AgentConfig {
  std::string agent_id;
  std::string build = "tributary";
  // Drawn at random when the process starts.
  std::uint64_t incarnation = 1;
  wire::CapabilitiesT capabilities;
  // Where peers may try to reach it; none: it exchanges by the coordinator alone.
  std::vector<std::string> endpoints = {};

  // Until Welcome says otherwise.
  // To the first repeat of a Hello on a connection that stays, which loses none; doubles.
  std::uint32_t hello_timeout_ms = 3'000;
  std::uint32_t hello_timeout_max_ms = 10'000;
  // Without a word from the coordinator, after which its connection is given up. What is in between
  // (a tunnel, a proxy) may go on taking what leads nowhere.
  std::uint32_t give_up_after_ms = 60'000;
  // Refusals as a duplicate, one after the other, after which it is one.
  std::uint32_t duplicate_refusals_max = 20;
  // Layer map and model of a job, and the updates on their way: a larger job is refused.
  std::uint64_t model_bytes_max = 64ull << 30;

  Execution execution = {};
  // Time as it passes within a call, to tell how long encoding takes. Null: it is not measured.
  std::function<TimeNs()> stopwatch = nullptr;
};

}  // namespace tributary
