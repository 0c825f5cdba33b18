// The options of a test's federation: the number of agents, the job's policy, the behaviour of the
// links, and the functions by which the test observes and controls the run.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "core/round/agent/agent.h"
#include "core/round/common/machine/actions.h"
#include "core/round/common/machine/events.h"
#include "core/round/common/session/conversation.h"

namespace tributary::sim_testing {

struct Options {
  std::uint32_t agents = 3;
  std::uint64_t rounds = 5;
  RoundPolicy policy = {};
  std::uint64_t seed = 1;
  double loss = 0;  // probabilities for each message between agents and coordinator
  double repeat = 0;
  // Delay of a message, drawn for each. A message with a shorter delay overtakes earlier ones.
  TimeNs delay_min_ns = 1 * kNsPerMs;
  TimeNs delay_max_ns = 1 * kNsPerMs;
  // Initial rate of an agent's link in one direction. Empty or 0: no limit.
  std::function<double(std::uint32_t agent, bool up)> bytes_per_s_of = {};
  TimeNs store_ns = kNsPerMs / 10;  // time of a store
  TimeNs train_ns = 5 * kNsPerMs;   // time of a training
  TimeNs look_ns = kNsPerMs;        // an agent's stopwatch advances by this when it is read
  bool peers = false;               // agents report endpoints for peers
  bool train_ahead = true;          // of the commit
  bool in_parts = false;            // the last layers of an update arrive before the others
  std::uint64_t incoming_bytes_max = 16u << 20;  // the coordinator's budget for incoming payloads
  std::uint64_t outgoing_bytes_max = 16u << 20;  // and for bytes in flight to agents
  std::uint32_t payload_bytes_max = 4u << 20;
  std::uint32_t history_rounds_max = 256;  // rounds whose outcomes are kept in memory
  Execution execution = {};                // of all machines
  // The device of an agent, which outlives the federation; empty: as in `execution`.
  std::function<CodecDevice*(std::uint32_t agent)> device_of = {};
  double redo_models = 1;                               // payloads of recent rounds, in models
  std::uint64_t redo_bytes_in_memory_max = UINT64_MAX;  // of them
  std::uint64_t vector_values = 150;                    // besides a matrix of 320 values
  std::vector<LayerShape> layers = {};  // replace that matrix and vector, if there are any
  std::function<void(wire::JobT&)> change_job = {};  // changes the job before it is submitted
  std::function<std::uint64_t(std::uint32_t agent)> examples_of = {};  // empty: 10
  // The planner, called after every round; null: no new advice.
  std::function<std::shared_ptr<const PlanAdvice>(const RoundPlayed&)> advise = {};
  std::function<std::string(std::uint32_t agent)> endpoint_of = {};  // replaces a peer's endpoint
  // Called before and after an agent handles an event; its actions have not been performed yet.
  std::function<void(std::uint32_t agent, const Event&)> before_event = {};
  std::function<void(std::uint32_t agent, const Actions&, const Agent&)> after_event = {};
};

}  // namespace tributary::sim_testing
