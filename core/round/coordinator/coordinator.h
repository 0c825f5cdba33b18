// The coordinator's state machine: the sessions of the agents, the jobs, and their rounds. It has
// no socket, clock, thread or file: events go in, actions come out, and the same events always give
// the same actions.
//
// Several jobs may run at the same time, but an agent works for one of them: the first, in the
// order of submission, that is not over and that accepts the agent (RoundPolicy::agents).
//
// The host calls handle() for every event and performs the returned actions in order. It sends a
// Tick at next_wakeup_ns(). Not thread-safe.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/round/common/machine/actions.h"
#include "core/round/common/machine/events.h"
#include "core/round/common/machine/records.h"
#include "core/round/coordinator/context/coordinator_config.h"
#include "core/round/coordinator/context/job_view.h"

namespace tributary {

class Coordinator {
 public:
  // Starts with the state that the store restored. Returns corrupt_data if the state contradicts
  // itself, or the error of a policy or a definition that is not valid.
  static Result<std::unique_ptr<Coordinator>> make(CoordinatorConfig config,
                                                   CoordinatorState state);
  ~Coordinator();
  Coordinator(const Coordinator&) = delete;
  Coordinator& operator=(const Coordinator&) = delete;

  // Handles an event. `now` is the time of the host's steady clock; an earlier time than in the
  // last call counts as that time.
  Actions handle(TimeNs now, const Event& event);

  // Time of the next Tick; INT64_MAX: none is needed before the next event.
  TimeNs next_wakeup_ns() const;
  // True if nothing waits to be acknowledged or stored, so that the host may end.
  bool idle() const;

  // --- views for daemons, tests and the simulator ---

  // The summary of one session.
  struct AgentView {
    std::string agent_id;
    std::uint64_t incarnation = 0;
    bool ready = false;  // has the job and the model of the last commit
    std::uint64_t job = 0;
    std::uint64_t model_version = 0;
    TimeNs last_arrival_ns = 0;
    // Payload bytes of this session in both directions, without probes.
    std::uint64_t payload_bytes = 0;
  };
  using JobView = tributary::JobView;
  std::vector<AgentView> agents() const;
  std::vector<JobView> jobs() const;

  // Round and model of the first job that is not over, or else of the last job; zero or null
  // without a job. The model is that of the last stored commit.
  RoundKey current_round() const;
  std::uint64_t model_version() const;
  std::uint64_t model_hash() const;
  SharedFloats model() const;
  // Null if no such job is in memory.
  SharedFloats model_of(std::uint64_t job) const;
  SharedBytes definition_of(std::uint64_t job) const;  // see JobRecord
  // The accumulated loss of encoding aggregates again, in the units of sums; may be null.
  SharedFloats aggregator_residual() const;

  // Bytes held for agents: incomplete payloads, aggregates and past rounds. Models are not
  // included.
  std::uint64_t buffered_bytes() const;
  // The part of them that incomplete payloads use or have reserved.
  std::uint64_t incoming_bytes() const;
  // Bulk bytes in flight to all agents together.
  std::uint64_t outgoing_bytes() const;
  // A hash of the state without times; equal states have equal hashes.
  std::uint64_t state_hash() const;

 private:
  class Impl;
  explicit Coordinator(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace tributary
