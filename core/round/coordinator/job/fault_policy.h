// Excludes the agents of a job whose numbers cannot be added: names them in the events, informs
// them, and chooses the participants of the next attempt (FaultyAgents has the rules).
//
// All references must outlive the object. Not thread-safe.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/round/coordinator/attempt/active_round.h"
#include "core/round/coordinator/context/job_context.h"
#include "core/round/coordinator/context/membership.h"
#include "core/round/coordinator/job/faulty_agents.h"

namespace tributary {

class FaultPolicy {
 public:
  FaultPolicy(const JobContext& job, const Membership& membership)
      : job_(job), membership_(membership) {}

  // Replays the facts of the last committed rounds. Returns corrupt_data if they are damaged.
  Status restore(const std::vector<RestoredFacts>& rounds);
  // The participants of the next attempt at this round; none if too few agents are ready. An agent
  // that is left out because of its numbers is ready, so the job goes on without it even if it asks
  // for as many agents as there are.
  Bitmap participants(std::uint64_t round);
  // The member's numbers were found not to be finite. `notify` sends the agent a message, which an
  // agent that has found the fault itself does not need.
  void exclude(std::uint32_t member, const RoundKey& key, const std::string& why, bool notify);
  // An attempt was given up. Searches the cause if its results were not finite. Returns true if no
  // attempt can have finite numbers, and names the reason in the events.
  [[nodiscard]] bool gave_up(const ActiveRound& round);
  // True if the next attempt leaves out other suspects than the last one.
  bool searching() const { return faulty_.searching(); }
  // The round is about to be committed: counts the agents that are excluded from it,
  // also those that are not connected.
  void count(ActiveRound& round) const;
  void committed(const RoundRecord& record, const RoundPlan& plan);

 private:
  std::vector<std::string> names_of(const Bitmap& members) const;
  void search_cause(const ActiveRound& round);

  const JobContext& job_;
  const Membership& membership_;
  FaultyAgents faulty_;
};

}  // namespace tributary
