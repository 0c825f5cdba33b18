// The agent's state machine: its connection, its replica, its residual, and its part in the rounds.
// Events in, actions out; see coordinator.h.
//
// Threads: one at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/round/agent/context/agent_config.h"
#include "core/round/common/machine/actions.h"
#include "core/round/common/machine/events.h"
#include "core/round/common/machine/records.h"

namespace tributary {

class Agent {
 public:
  static Result<std::unique_ptr<Agent>> make(AgentConfig config, AgentState state);
  ~Agent();
  Agent(const Agent&) = delete;
  Agent& operator=(const Agent&) = delete;

  Actions handle(TimeNs now, Event event);

  TimeNs next_wakeup_ns() const;
  bool idle() const;

  // --- for those who watch ---

  bool connected() const;  // welcomed, and the session holds
  wire::Activity activity() const;
  std::uint64_t job() const;
  RoundKey current_round() const;
  std::uint64_t model_version() const;
  std::uint64_t model_hash() const;
  SharedFloats model() const;  // null: none yet

  // How many of the first values of the round's update it has not taken yet.
  std::uint64_t missing_of_update(std::uint64_t round) const;
  // What this agent has not given away: if every undecided round is decided against it. Null: none.
  SharedFloats residual() const;
  // The learning rate that a gradient's residual is in units of; 0: none yet.
  double residual_unit() const;
  // Updates that are in committed contributions or in the residual, ever.
  std::uint64_t updates_taken() const;
  // Contributions whose fate is open: what the residual of their buckets is if they count.
  std::vector<UndecidedRound> undecided() const;

  std::uint64_t buffered_bytes() const;
  std::uint64_t state_hash() const;

 private:
  class Impl;
  explicit Agent(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace tributary
