// One attempt at one round on the coordinator: sends the plan, receives payloads, closes the stages
// of its buckets, and reports how it ended.
//
// The caller calls close_complete() after every call that may have completed a stage, and
// close_overdue() at next_due_ns(). An attempt that has ended is committed or ended by give_up(),
// and receives no more payloads. Not thread-safe.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/round/coordinator/attempt/active_round.h"
#include "core/round/coordinator/attempt/admission.h"
#include "core/round/coordinator/attempt/deadline_watch.h"
#include "core/round/coordinator/attempt/results/reported_results.h"
#include "core/round/coordinator/attempt/stage_grace.h"
#include "core/round/coordinator/context/membership.h"
#include "core/round/coordinator/context/upload_budget.h"

namespace tributary {

// The kinds of messages that carry a payload to the coordinator.
enum class SentAs : std::uint8_t { preliminary, update, result };

// The fields of a message beside its part.
struct PartMessage {
  SentAs sent_as = SentAs::update;
  std::uint32_t agent_index = 0;
  std::uint64_t trained_round = 0;  // of the newest update in the payload; 0: this round
};

class Attempt {
 public:
  // The parameters of an attempt.
  struct Setup {
    std::shared_ptr<const RoundPlan> plan;
    Bitmap participants;
    std::uint32_t deadline_ms = 0;
    UploadBudget budget;
    // The aggregator's residual for the whole model; empty if it keeps none.
    std::span<float> residual;
    RoundStart start = {};
  };
  // Returns the error of a codec that cannot begin. All references and the residual must outlive
  // the attempt.
  static Result<std::unique_ptr<Attempt>> make(const JobContext& job, const Membership& membership,
                                               RepeatedBytes& repeats, CarriedUploads& carried,
                                               const Setup& setup);
  Attempt(const Attempt&) = delete;
  Attempt& operator=(const Attempt&) = delete;

  const ActiveRound& round() const { return round_; }
  ActiveRound& round() { return round_; }
  const RoundKey& key() const { return round_.key(); }
  std::uint64_t incoming_bytes() const { return admission_.bytes(); }
  std::uint64_t bytes() const { return admission_.bytes() + round_.bytes(); }
  TimeNs next_due_ns() const;

  // --- members ---
  // Sends the plan to all participants that have a session.
  void send_plan_to_all();
  // The member's process has a new connection. The caller sends it the plan again.
  void resume(AgentSession& session, std::uint32_t member);
  void send_plan_to(AgentSession& session, std::uint32_t member);
  // The member's session is lost.
  void lose(std::uint32_t member);
  // The member reports that it does not participate any more.
  void withdraw(std::uint32_t member);
  // The member has refused the plan.
  void refuse_plan(std::uint32_t member) { round_.members()[member].withdrawn = true; }
  // The results that members of an exchange among peers or in the network report.
  ReportedResults& results() { return results_; }

  // --- payloads ---
  // Handles a part. Returns true if a payload is complete, so that its stage may be complete.
  bool receive_part(AgentSession& session, const wire::Part& part, const PartMessage& message,
                    ByteSpan payload);
  // Handles the announcement of a payload that waits to be called.
  void receive_announcement(AgentSession& session, const wire::Receipt& receipt);
  // Sends the rest of an aggregate that the agent lacks. An aggregate that is not combined yet is
  // sent when it is.
  void send_missing(AgentSession& session, const wire::Receipt& receipt);
  void count_sent(std::uint64_t bytes) { round_.bytes_down += bytes; }

  // --- its end ---
  struct End {
    bool finished = false;                                      // at least one bucket has a result
    wire::AbortReason reason = wire::AbortReason::unspecified;  // the reason if none has
    // In the network: given up because members are late, which the next attempt leaves out.
    bool some_late = false;
  };
  // Closes complete stages. In an exchange among peers, compares the results of all members once
  // all of them have reported. Empty while the attempt continues.
  std::optional<End> close_complete();
  // Closes stages whose deadline or grace time has passed. Empty while the attempt continues.
  std::optional<End> close_overdue();
  void check_deadline() { deadline_.check(); }
  // The verdict that the deadline is too short for the measured links; empty if there is none, or
  // if the deadline has not passed.
  std::optional<DeadlineVerdict> too_short() const {
    return overdue() ? deadline_.verdict() : std::nullopt;
  }
  // Records the members that were late, and those that are awaited again.
  void record_late(Stragglers& stragglers) const;
  // The same for an attempt that was given up because of them.
  void record_missed(Stragglers& stragglers) const;
  // Aborts the attempt at the participants. Returns the participants that have sent nothing, or no
  // member if none has sent anything.
  Bitmap give_up(wire::AbortReason reason);

 private:
  Attempt(const JobContext& job, const Membership& membership, RepeatedBytes& repeats,
          CarriedUploads& carried, const Setup& setup, std::vector<RoundMember> members,
          const GraceRule& rule)
      : job_(job),
        membership_(membership),
        round_(setup.plan, std::move(members)),
        admission_(job.coordinator, membership, round_, setup.budget, repeats, carried),
        results_(job, membership, round_),
        deadline_(job, membership, round_),
        grace_(rule, setup.plan->buckets().size(), job.coordinator.now) {}

  bool overdue() const { return job_.coordinator.now >= round_.deadline_ns; }
  AgentSession* session_of(std::uint32_t member) const;
  // The end of an attempt without open buckets.
  End ending() const;
  bool some_failed();
  void close_stages_of_all();
  // True if the bucket's open stage closes without late members after its grace time.
  bool has_grace(const BucketAggregation& bucket) const;
  void plan_grace();
  std::optional<End> close_if_agreed();
  std::uint32_t enough(const BucketAggregation& bucket) const;
  // Marks the members whose grace time has passed as late.
  void end_grace();
  void close_stage(BucketAggregation& bucket);
  bool replace(std::uint32_t member);
  void ask_for_segments(std::uint32_t of, AgentSession& session);
  // The ids of members without a result, for a note.
  std::string without_result() const;

  const JobContext& job_;
  const Membership& membership_;
  ActiveRound round_;
  Admission admission_;
  ReportedResults results_;
  DeadlineWatch deadline_;
  StageGrace grace_;
  bool patient_ = false;  // waits longer for an agent that has not contributed for many rounds
  TimeNs grace_due_ns_ = kNever;  // of the first stage that closes by its grace time
};

}  // namespace tributary
