// The configuration of the coordinator's state machine.
#pragma once

#include <cstdint>
#include <string>

#include "core/codec/codec.h"

namespace tributary {

struct CoordinatorConfig {
  std::string federation = "federation";
  std::string build = "tributary";
  // Drawn at random when the process starts: numbers of sessions and jobs follow from it.
  std::uint64_t incarnation = 1;

  std::uint32_t heartbeat_interval_ms = 1'000;
  std::uint32_t heartbeat_timeout_ms = 5'000;
  std::uint32_t ack_timeout_ms = 250;  // that an acknowledgement may take; waits are multiples
  std::uint32_t retries_max = 8;

  std::uint32_t agents_max = 4'096;
  // Of incomplete payloads, and half as much for parts on their way; shared among the agents.
  std::uint64_t incoming_bytes_max = 17u << 20;
  std::uint32_t payload_bytes_max = 4u << 20;  // of one part, if the share of an agent allows it
  std::uint32_t payloads_in_flight_max = 16;
  // Committed rounds kept in memory with their payloads, for agents that fall behind by a few: as
  // many as fit into this many times the model's bytes, and always the last one.
  double redo_models = 1;
  std::uint32_t history_rounds_max = 256;  // whose outcomes are kept in memory

  Execution execution = {};
};

}  // namespace tributary
