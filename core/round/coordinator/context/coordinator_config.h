// The configuration of the coordinator's state machine.
//
// A plain value that is fixed for the life of the coordinator. The daemon checks it when it reads
// the settings; the machine does not check it again.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "core/codec/codec.h"
#include "core/plan/fusion/fusion.h"

namespace tributary {

struct CoordinatorConfig {
  std::string federation = "federation";
  // A random number drawn when the process starts. Numbers of sessions and jobs are derived from
  // it.
  std::uint64_t incarnation = 1;
  // Another one. The secrets of the linear check are derived from it and from nothing that an
  // aggregator sees.
  std::uint64_t check_seed = 1;

  std::uint32_t heartbeat_interval_ms = 1'000;
  std::uint32_t heartbeat_timeout_ms = 5'000;
  // Allowed time for an acknowledgement; other waiting times are multiples.
  std::uint32_t ack_timeout_ms = 250;
  std::uint32_t retries_max = 8;

  std::uint32_t agents_max = 4'096;
  // Limit for incomplete payloads, in bytes; parts in flight may use half as much in addition. All
  // agents share it.
  std::uint64_t incoming_bytes_max = 17u << 20;
  // Limit for bulk bytes in flight to all agents together (shared_window.h).
  std::uint64_t outgoing_bytes_max = 16u << 20;
  std::uint32_t payload_bytes_max = 4u << 20;  // of one part, unless an agent's share is smaller
  std::uint32_t payloads_in_flight_max = 16;
  // Payloads of committed rounds for agents that are a few rounds behind, as a multiple of the
  // model's bytes. The last round is always kept.
  double redo_models = 1;
  // Limit for those of them that are in memory, in bytes. The others are read from the journal. The
  // last round is in memory at least until all connected agents have applied it.
  std::uint64_t redo_bytes_in_memory_max = 16u << 20;
  std::uint32_t history_rounds_max = 256;  // rounds whose outcomes stay in memory

  // Finds the groups of a job with fusion = "optimal". It is called between two rounds and must
  // return within milliseconds. Null: such a job keeps one group for each layer.
  std::function<Result<FusionPlan>(const FusionProfile&)> plan_fusion = {};

  Execution execution = {};
};

}  // namespace tributary
