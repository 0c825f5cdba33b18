// One job of the coordinator: the state machine that leads from round to round. Objects that it
// owns do the work of each phase.
//
//   waiting ── enough agents are ready ──> opening ── epoch stored ──> running
//      ^           (the same members: directly to running)                │
//      │                                                                  │
//      ├── commit stored and published <── committing <── some result ────┤
//      └── after a pause <─────────────── backing_off <── no result ──────┘
//
// A result means that at least one bucket has reached its quorum. The phase `over` follows when the
// last round is committed, or when the job is stopped.
//
// The coordinator calls it for the sessions that work for the job (AgentSession::run). Not
// thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "core/round/coordinator/attempt/attempt.h"
#include "core/round/coordinator/commit/catch_up.h"
#include "core/round/coordinator/commit/commit_writer.h"
#include "core/round/coordinator/commit/committed_model.h"
#include "core/round/coordinator/context/job_context.h"
#include "core/round/coordinator/context/job_view.h"
#include "core/round/coordinator/context/membership.h"
#include "core/round/coordinator/job/advice_policy.h"
#include "core/round/coordinator/job/collective/collective_policy.h"
#include "core/round/coordinator/job/fault_policy.h"
#include "core/round/coordinator/job/round_reporter.h"
#include "core/round/coordinator/job/round_retry.h"

namespace tributary {

class JobRun {
 public:
  // Returns the error of a record that is not valid, or corrupt_data if the journal contradicts
  // itself. `context` must outlive the object.
  static Result<std::unique_ptr<JobRun>> make(CoordinatorContext& context, RestoredJob state);

  // --- sessions ---
  wire::StandingT standing(const AgentSession& session) const;
  // The session was welcomed. `before` is the number of the session that it continues; 0: none.
  void joined(AgentSession& session, std::uint64_t before);
  // The session has ended, or its agent works for another job now.
  void left(AgentSession& session);
  // Takes the byte counts of this session.
  void count(AgentSession& session) { reporter_.count(session); }
  // Handles the acknowledgement of a message.
  void answered(AgentSession& session, const Conversation::Asked& asked);
  // Handles the refusal of a message.
  void refused(AgentSession& session, const Conversation::Asked& asked,
               const wire::Refusal& refusal);
  // Handles a new message that concerns the job.
  void receive(AgentSession& session, const wire::Frame& frame, ByteSpan payload);
  void loaded(const RoundLoaded& event);
  // An aggregator in the network has connected, is leaving (AgentSession::leaving), or has
  // answered.
  void aggregator_changed(const AgentSession& session,
                          const wire::EpochInstalled* answer = nullptr);

  // --- the job ---
  // Ends an overdue attempt, starts waiting transfers, and begins the next round if it can begin.
  void tick();
  TimeNs next_due_ns() const;
  // Changes the job's state. `done` is called when the change is stored.
  void change(wire::JobState state, std::string reason, std::function<void()> done);
  // Takes a planner's decision.
  void advise(std::shared_ptr<const PlanAdvice> advice);
  bool over() const;  // finished or stopped, and that state is stored

  const JobRecord& record() const { return job_.record; }
  JobView view() const;
  const CommittedModel& committed() const { return committed_; }
  RoundKey current_round() const { return attempt_ ? attempt_->key() : RoundKey{}; }
  // The limits for the uploads of the job's agents.
  UploadBudget budget() const;
  std::uint64_t buffered_bytes() const;
  std::uint64_t incoming_bytes() const {
    return carried_.bytes() + (attempt_ ? attempt_->incoming_bytes() : 0);
  }

 private:
  // `ending`: the results are complete and on their way to the agents; the commit is made next.
  enum class Phase { waiting, opening, running, ending, committing, backing_off, over };

  JobRun(CoordinatorContext& context, std::shared_ptr<const JobModel> job, RestoredJob& state);

  std::uint64_t next_round() const { return committed_.version() + 1; }
  // Begins the next attempt, or an epoch before it, if nothing prevents it.
  void maybe_begin();
  bool waits_for_catching_up() const;
  void open_epoch();
  void begin_attempt();
  Status start_attempt(const Bitmap& participants);
  PlanRequest request_plan(const Bitmap& participants);
  // Ends the attempt if it is complete.
  void progress();
  void end(const Attempt::End& end);
  void commit();
  void committed(const RoundRecord& record);
  // `some_late`: an attempt in the network that others repeat without the late members.
  void give_up(wire::AbortReason reason, bool retry, bool some_late = false);

  void receive_part(AgentSession& session, const wire::Part& part, const PartMessage& message,
                    ByteSpan payload);
  void receive_receipt(AgentSession& session, const wire::Receipt& receipt);
  void receive_report(AgentSession& session, const wire::Report& report);
  void receive_abort(AgentSession& session, const wire::Abort& abort);

  JobContext job_;
  CommittedModel committed_;
  CommitWriter commits_;
  Membership membership_;
  CollectivePolicy collectives_;
  AdvicePolicy advice_;
  FaultPolicy faults_;
  CatchUp catch_up_;
  RoundReporter reporter_;
  CarriedUploads carried_;
  std::unique_ptr<Attempt> attempt_;  // null: no attempt is running or being committed

  Phase phase_ = Phase::waiting;
  RoundRetry retry_;
  TimeNs waiting_since_ns_ = -1;
  bool state_stored_ = true;
};

}  // namespace tributary
