// The coordinator's state machine: who is there, what is being trained, and the rounds. No socket,
// clock, thread or file: events in, actions out, and the same events give the same actions.
//
// Several jobs may be at work at once, but an agent works for one: the first, in the order of their
// submission, that is not over and that wants it (RoundPolicy::agents).
//
// Threads: one at a time.
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
  // `state` as the store restored it. An error where it contradicts itself.
  static Result<std::unique_ptr<Coordinator>> make(CoordinatorConfig config,
                                                   CoordinatorState state);
  ~Coordinator();
  Coordinator(const Coordinator&) = delete;
  Coordinator& operator=(const Coordinator&) = delete;

  Actions handle(TimeNs now, const Event& event);

  // When the next Tick is due; INT64_MAX: when something happens.
  TimeNs next_wakeup_ns() const;
  // Nothing is waiting to be acknowledged, sent or stored.
  bool idle() const;

  // --- for those who watch: daemons, tests, the simulator ---

  struct AgentView {
    std::string agent_id;
    std::uint64_t incarnation = 0;
    bool ready = false;  // has the job, and the model of the last commit
    std::uint64_t job = 0;
    std::uint64_t model_version = 0;
    TimeNs heard_at_ns = 0;
    // Of this session, both ways, without probes.
    std::uint64_t payload_bytes = 0;
  };
  using JobView = tributary::JobView;
  std::vector<AgentView> agents() const;
  std::vector<JobView> jobs() const;

  // Of the first job that is not over, or of the last one; empty without any. The model is that of
  // the last commit that is stored.
  RoundKey current_round() const;
  std::uint64_t model_version() const;
  std::uint64_t model_hash() const;
  SharedFloats model() const;
  // Null: no such job is here.
  SharedFloats model_of(std::uint64_t job) const;
  SharedBytes definition_of(std::uint64_t job) const;  // as JobRecord has it
  // What encoding aggregates again has not given out yet, in the units of sums; may be empty.
  SharedFloats aggregator_residual() const;

  // Bytes held for agents: incomplete payloads, aggregates, queues. Without models.
  std::uint64_t buffered_bytes() const;
  // Of them: what incomplete payloads have or have been promised.
  std::uint64_t incoming_bytes() const;
  // The same for equal states; times left out.
  std::uint64_t state_hash() const;

 private:
  class Impl;
  explicit Coordinator(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace tributary
