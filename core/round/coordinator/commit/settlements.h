// Tells an agent that is about to take a whole model what became of its contributions in the rounds
// up to that model's version. Rounds that are not in memory any more are read from the journal.
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

  // For every round up to this version whose outcome the agent may not know. Nothing: the journal
  // is asked for one of them first, and take() has its answer.
  std::optional<std::vector<wire::SettlementT>> up_to(const AgentSession& session,
                                                      std::uint64_t version);
  // The session that waited for this answer; null: it is gone, or this was not asked for here.
  AgentSession* take(const RoundLoaded& event);
  // Forgets what the journal said, unless the session needs more rounds of it.
  void release(const AgentSession& session);

 private:
  std::optional<Fate> fate_of(const AgentSession& session, const RoundKey& id) const;

  struct Loading {
    std::uint64_t session = 0;
    std::uint64_t round = 0;
  };
  const JobContext& job_;
  const CommittedModel& committed_;
  std::map<Token, Loading> loading_;
  std::map<std::uint64_t, std::pair<RoundRecord, EpochRecord>> loaded_;  // by round
};

}  // namespace tributary
