// Decides which agents of a job are left out because of numbers that are not finite, and when a job
// has no agents with finite numbers left.
//
// Most faults show in a payload; the agent is known at once. A result that is not finite although
// every payload is may be due to any contributor. Then following attempts leave out half of the
// suspects until one suspect is left, and that agent is the one if its attempt fails as well. An
// agent is left out of the rest of the round, and for a number of rounds that doubles with each
// further fault (up to kFactsRestored). A committed contribution ends that.
//
// A restarted process replays the exclusions of the last committed rounds. The search for a cause
// is memory of the running process: it begins anew. Not thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/round/common/machine/bitmap.h"

namespace tributary {

class FaultyAgents {
 public:
  // Records that the agent's numbers were not finite in this round. Returns the first round in
  // which it takes part again.
  std::uint64_t found(const std::string& agent_id, std::uint64_t round);
  // Records that the result of these contributors was not finite. Returns the agent if only one can
  // be the cause; the caller then calls found().
  std::optional<std::string> search(std::span<const std::string> contributors);
  // Records a committed round. `contributors` are the participants that are part of its result.
  void committed(std::uint64_t round, std::span<const std::string> participants,
                 std::span<const std::string> contributors);
  // Records a round that an earlier process committed; rounds ascend. `left` is what rounds_left()
  // returned before the commit. An agent that is not in it has no fault any more.
  void replay(std::uint64_t round, const std::map<std::string, std::uint64_t>& left);

  // The agents that an attempt at this round leaves out: a bit for each entry of `ready`, the
  // agents that could take part. Empty if it would leave out all of them; then all try again.
  Bitmap left_out(std::span<const std::string> ready, std::uint64_t round);
  // True while the agent is left out because of a fault of its own.
  bool excluded(const std::string& agent_id, std::uint64_t round) const;
  // The excluded agents, with the number of rounds for which they are left out, this one included.
  std::map<std::string, std::uint64_t> rounds_left(std::uint64_t round) const;
  // True while the cause is searched among suspects.
  bool searching() const { return !suspects_.empty(); }

  // Records that an attempt at this round was given up. Returns true if further attempts are
  // useless: three times all agents that could take part had faults of their own, or the attempts
  // given up because of numbers exceed what a search among this many agents takes.
  [[nodiscard]] bool gave_up(std::uint64_t round, std::span<const std::string> ready);

 private:
  struct Fault {
    std::uint64_t round = 0;  // of the last fault
    std::uint64_t until = 0;  // the first round in which the agent takes part again
    std::uint64_t pause = 0;  // number of rounds
  };

  std::map<std::string, Fault> faults_;  // by agent id
  std::vector<std::string> suspects_;    // ascending
  std::vector<std::string> aside_;  // left out until the search ends, neither guilty nor cleared
  // These count the attempts at one round.
  std::uint64_t round_ = 0;
  std::uint32_t attempts_ = 0;    // given up because of numbers
  std::uint32_t all_faulty_ = 0;  // given up with a fault of every agent
  bool by_numbers_ = false;       // a fault was found since the last attempt
};

}  // namespace tributary
