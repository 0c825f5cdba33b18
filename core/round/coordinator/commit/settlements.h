// Determines for an agent that is about to receive a whole model whether its contributions to the
// rounds up to that version counted. Rounds that are no longer in memory are read from the journal.
// `job` and `committed` must outlive the object. Not thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "core/round/coordinator/commit/committed_model.h"
#include "core/round/coordinator/context/job_context.h"

namespace tributary {

class Settlements {
 public:
  Settlements(const JobContext& job, const CommittedModel& committed)
      : job_(job), committed_(committed) {}

  // The outcomes of all rounds up to this version that the agent may not know. Empty: a round must
  // be read from the journal first; take() handles the answer, and the caller calls up_to() again.
  std::optional<std::vector<wire::SettlementT>> up_to(const AgentSession& session,
                                                      std::uint64_t version);
  // Handles the journal's answer. Returns the session that waited for it; null if the session has
  // ended, or if the answer belongs to another request. A journal that cannot be read is asked
  // again, after pauses that double, up to kReadsMax times; then the session waits until its agent
  // asks again, and its undecided rounds stay undecided.
  AgentSession* take(const RoundLoaded& event);
  // Sends the requests that are due again.
  void load_again();
  TimeNs next_due_ns() const;
  // Drops the rounds that were read, unless the session needs more of them.
  void release(const AgentSession& session);

  static constexpr std::uint32_t kReadsMax = 8;

 private:
  struct Loading {
    std::uint64_t session = 0;
    std::uint64_t round = 0;
    std::uint32_t reads = 1;
    TimeNs again_at_ns = kNever;  // kNever: the journal has not answered
  };

  void load(const Loading& loading);
  std::optional<Fate> fate_of(const AgentSession& session, const RoundKey& id) const;

  const JobContext& job_;
  const CommittedModel& committed_;
  std::map<Token, Loading> loading_;
  std::map<std::uint64_t, std::pair<RoundRecord, EpochRecord>> loaded_;  // by round
};

}  // namespace tributary
