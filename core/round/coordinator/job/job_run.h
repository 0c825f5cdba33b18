// A job at work on the coordinator: the state machine that goes from round to round. What each
// phase does is the business of the objects that it owns.
//
//   waiting ── enough agents are ready ──> opening ── the epoch is stored ──> running
//      ^                 (same members: straight to running)                    │
//      │                                                                        ├─ every bucket
//      closed: ├────────────── stored, published <── committing <── outcomes ───────────┤
//      └────────────── after a pause <────── backing_off <── none ──────────────┘
//
// The coordinator calls it for sessions that work for the job (AgentSession::run), from one thread.
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
#include "core/round/coordinator/job/peer_policy.h"
#include "core/round/coordinator/job/round_reporter.h"

namespace tributary {

class JobRun {
 public:
  // An error: the job's record or its journal contradicts itself. `context` outlives it.
  static Result<std::unique_ptr<JobRun>> make(CoordinatorContext& context, RestoredJob state);

  // --- sessions ---
  wire::StandingT standing(const AgentSession& session) const;
  // The session has been welcomed. `before` is the number of the one that it continues; 0: none.
  void joined(AgentSession& session, std::uint64_t before);
  void left(AgentSession& session);
  // Takes over what messages of this session took so far.
  void count(AgentSession& session) { reporter_.count(session); }
  void answered(AgentSession& session, const Conversation::Asked& asked);
  void refused(AgentSession& session, const Conversation::Asked& asked,
               const wire::Refusal& refusal);
  // A fresh message of a kind that is about the job.
  void receive(AgentSession& session, const wire::Frame& frame, ByteSpan payload);
  void loaded(const RoundLoaded& event) { catch_up_.loaded(event); }

  // --- the job ---
  void tick();
  TimeNs next_due_ns() const;
  void change(wire::JobState state, std::string reason, std::function<void()> done);
  void advise(std::shared_ptr<const PlanAdvice> advice);
  bool over() const;  // finished or stopped, and that is stored
  // The job accepts this agent.
  bool accepts(const std::string& agent_id) const;

  const JobRecord& record() const { return job_.record; }
  JobView view() const;
  const CommittedModel& committed() const { return committed_; }
  RoundKey current_round() const { return attempt_ ? attempt_->key() : RoundKey{}; }
  // What agents may have under way to the coordinator.
  UploadBudget budget() const;
  std::uint64_t buffered_bytes() const;
  std::uint64_t incoming_bytes() const { return attempt_ ? attempt_->incoming_bytes() : 0; }

 private:
  enum class Phase { waiting, opening, running, committing, backing_off, over };
  struct Retry {
    std::uint32_t attempt = 0;    // the number of the next one at the same round
    std::uint32_t too_short = 0;  // attempts, one after the other, that an uplink was too slow for
    TimeNs resume_at_ns = 0;      // from backing off
  };

  JobRun(CoordinatorContext& context, std::shared_ptr<const JobModel> job, RestoredJob& state);

  std::uint64_t next_round() const { return committed_.version() + 1; }
  void maybe_begin();
  bool waits_for_catching_up() const;
  void open_epoch();
  void begin_attempt();
  Status start_attempt(const Bitmap& participants);
  PlanRequest request_plan(const Bitmap& participants);
  // Acts on how an attempt has ended, if it has.
  void progress();
  void end(const Attempt::End& end);
  void commit();
  void committed(const RoundRecord& record);
  void give_up(wire::AbortReason reason, bool retry);
  void pause_if_too_short(const RoundKey& key, const std::optional<DeadlineVerdict>& verdict);

  void receive_part(AgentSession& session, const wire::Part& part, std::uint32_t agent_index,
                    SentAs sent_as, ByteSpan payload);
  void receive_receipt(AgentSession& session, const wire::Receipt& receipt);
  void receive_report(AgentSession& session, const wire::Report& report);
  void receive_abort(AgentSession& session, const wire::Abort& abort);

  JobContext job_;
  CommittedModel committed_;
  CommitWriter commits_;
  Membership membership_;
  PeerPolicy peers_;
  AdvicePolicy advice_;
  CatchUp catch_up_;
  RoundReporter reporter_;
  std::unique_ptr<Attempt> attempt_;  // null: none is under way, nor being committed

  Phase phase_ = Phase::waiting;
  Retry retry_;
  TimeNs waiting_since_ns_ = -1;
  bool state_stored_ = true;
};

}  // namespace tributary
