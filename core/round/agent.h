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

#include "core/codec/codec.h"
#include "core/round/actions.h"
#include "core/round/events.h"
#include "core/round/records.h"

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
