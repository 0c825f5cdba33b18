// The agent's state machine: its connection, its replica, its residual, and its participation in
// rounds. It has no socket, clock, thread or file: events go in, actions come out.
//
// The host calls handle() for every event and performs the returned actions in order. It sends a
// Tick at next_wakeup_ns(). After Finished the machine ignores all events. Not thread-safe.
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
  // Starts with the state that the store restored. Returns corrupt_data if the stored residual or
  // contributions do not fit the job, or the error of a definition that is not valid. A damaged
  // model is no error: the coordinator sends it again.
  static Result<std::unique_ptr<Agent>> make(AgentConfig config, AgentState state);
  ~Agent();
  Agent(const Agent&) = delete;
  Agent& operator=(const Agent&) = delete;

  // Handles an event. `now` is the time of the host's steady clock; an earlier time than in the
  // last call counts as that time.
  Actions handle(TimeNs now, Event event);

  // Time of the next Tick; INT64_MAX: none is needed before the next event.
  TimeNs next_wakeup_ns() const;
  // True if nothing waits to be stored or acknowledged, so that the host may end.
  bool idle() const;

  // --- views for daemons, tests and the simulator ---

  bool connected() const;  // a session is open
  wire::Activity activity() const;
  std::uint64_t job() const;
  RoundKey current_round() const;
  std::uint64_t model_version() const;
  std::uint64_t model_hash() const;
  SharedFloats model() const;  // null: none yet

  // Number of values, from the start of the model, of the round's update that were not added to the
  // residual yet.
  std::uint64_t missing_of_update(std::uint64_t round) const;
  // The residual if no undecided round counts. Null: zeros.
  SharedFloats residual() const;
  // The learning rate in whose units a gradient's residual is; 0: none yet.
  double residual_unit() const;
  // Number of updates ever taken: each is in committed contributions or in the residual.
  std::uint64_t updates_taken() const;
  // The undecided contributions, each with the residual of its buckets for the case that it counts.
  std::vector<UndecidedRound> undecided() const;

  // Bytes held for the current rounds: payloads, aggregates, messages of peers and a download.
  // Models are not included.
  std::uint64_t buffered_bytes() const;
  // A hash of the state without times; equal states have equal hashes.
  std::uint64_t state_hash() const;

 private:
  class Impl;
  explicit Agent(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace tributary
