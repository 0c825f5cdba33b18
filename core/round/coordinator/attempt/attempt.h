// One try of one round on the coordinator: sends the plan, takes payloads, closes the stages of its
// buckets, and says how it has ended.
//
// The caller looks at close_complete() after every call that may have completed a stage, and at
// close_overdue() when next_due_ns() has come. An attempt that has ended is committed, or given up
// by give_up(); it takes no more payloads then.
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
#include "core/round/coordinator/context/membership.h"
#include "core/round/coordinator/context/upload_budget.h"

namespace tributary {

// The kinds of message that carry a payload to the coordinator.
enum class SentAs : std::uint8_t { preliminary, update, result };

class Attempt {
 public:
  struct Setup {
    std::shared_ptr<const RoundPlan> plan;
    Bitmap participants;
    std::uint32_t deadline_ms = 0;
    UploadBudget budget;
    // The aggregator's, of the whole model; empty where none is kept.
    std::span<float> residual;
  };
  // Everything that is referred to outlives it.
  static Result<std::unique_ptr<Attempt>> make(const JobContext& job, const Membership& membership,
                                               RepeatedBytes& repeats, const Setup& setup);
  Attempt(const Attempt&) = delete;
  Attempt& operator=(const Attempt&) = delete;

  const ActiveRound& round() const { return round_; }
  ActiveRound& round() { return round_; }
  const RoundKey& key() const { return round_.key(); }
  std::uint64_t incoming_bytes() const { return admission_.bytes(); }
  std::uint64_t bytes() const { return admission_.bytes() + round_.bytes(); }
  TimeNs next_due_ns() const;

  // --- members ---
  void send_plan_to_all();
  // The member's process is back over a new connection. It needs the plan again.
  void resume(const AgentSession& session, std::uint32_t member);
  void send_plan_to(AgentSession& session, std::uint32_t member);
  void lose(std::uint32_t member);
  // The member says that it does not take part any more.
  void withdraw(std::uint32_t member);
  void refuse_plan(std::uint32_t member) { round_.members()[member].withdrawn = true; }
  // By peers: the hash of the results that the member has come to.
  void agree(std::uint32_t member, std::uint64_t results_hash);
  std::uint64_t results_hash_of(std::uint32_t member) const {
    return round_.members()[member].results_hash;
  }

  // --- payloads ---
  // True: a payload is whole, and its stage may be complete.
  bool receive_part(AgentSession& session, const wire::Part& part, std::uint32_t agent_index,
                    SentAs sent_as, ByteSpan payload);
  void receive_announcement(AgentSession& session, const wire::Receipt& receipt);
  // The agent lacks the rest of an aggregate. It gets one that is not combined yet when it is.
  void send_missing(AgentSession& session, const wire::Receipt& receipt);
  void count_sent(std::uint64_t bytes) { round_.bytes_down += bytes; }

  // --- its end ---
  struct End {
    bool finished = false;                                      // at least one bucket has a result
    wire::AbortReason reason = wire::AbortReason::unspecified;  // why not
  };
  // Nothing: it goes on.
  std::optional<End> close_complete();
  std::optional<End> close_overdue();
  void check_deadline() { deadline_.check(); }
  const std::optional<DeadlineVerdict>& too_short() const { return deadline_.verdict(); }
  bool overdue() const { return job_.coordinator.now >= round_.deadline_ns; }
  // Tells the participants that it is given up. Returns those from which nothing has come; none
  // where nothing has come from anyone.
  Bitmap give_up(wire::AbortReason reason, bool retry, std::uint64_t version, std::uint64_t hash);

 private:
  Attempt(const JobContext& job, const Membership& membership, RepeatedBytes& repeats,
          const Setup& setup, std::vector<RoundMember> members)
      : job_(job),
        membership_(membership),
        round_(setup.plan, std::move(members)),
        admission_(job.coordinator, round_, setup.budget, repeats),
        deadline_(job, membership, round_) {}

  AgentSession* session_of(std::uint32_t member) const;
  End ending() const;
  std::optional<End> close_if_agreed();
  void close_stage(BucketAggregation& bucket);
  bool uploaded(std::uint32_t member) const;
  std::string without_result() const;

  const JobContext& job_;
  const Membership& membership_;
  ActiveRound round_;
  Admission admission_;
  DeadlineWatch deadline_;
};

}  // namespace tributary
