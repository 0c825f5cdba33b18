// What a federation of a test is like: the number of agents, the job's policy, what the links do,
// and what the test sees and decides while it runs.
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
  double loss = 0;  // probabilities, of each message between agents and coordinator
  double repeat = 0;
  // Of a message, drawn for each: one with a shorter delay overtakes others.
  TimeNs delay_min_ns = 1 * kNsPerMs;
  TimeNs delay_max_ns = 1 * kNsPerMs;
  // The rate of an agent's link in one direction, to begin with. Empty or 0: no limit.
  std::function<double(std::uint32_t agent, bool up)> bytes_per_s_of = {};
  TimeNs store_ns = kNsPerMs / 10;
  TimeNs train_ns = 5 * kNsPerMs;
  TimeNs look_ns = kNsPerMs;  // by which an agent's stopwatch advances when it is read
  bool peers = false;         // agents name addresses for one another
  bool in_parts = false;      // the last layers of an update come before the others
  std::uint64_t incoming_bytes_max = 16u << 20;
  std::uint32_t payload_bytes_max = 4u << 20;
  std::uint32_t history_rounds_max = 256;
  double redo_models = 1;
  std::uint64_t vector_values = 150;  // beside a matrix of 320
  std::function<void(wire::JobT&)> change_job = {};
  std::function<std::uint64_t(std::uint32_t agent)> examples_of = {};  // empty: 10
  // The planner, after every round; null: nothing new.
  std::function<std::shared_ptr<const PlanAdvice>(const RoundPlayed&)> advise = {};
  std::function<std::string(std::uint32_t agent)> endpoint_of = {};  // instead of a peer's
  // Before and after an agent handles an event; its actions have not been carried out yet.
  std::function<void(std::uint32_t agent, const Event&)> before_event = {};
  std::function<void(std::uint32_t agent, const Actions&, const Agent&)> after_event = {};
};

}  // namespace tributary::sim_testing
