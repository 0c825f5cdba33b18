// The agents that a job does not wait for, because a stage closed without them when its grace time
// had passed.
//
// Such an agent stays a member: it gets every plan and result, and its payload counts whenever it
// arrives in time. It is awaited again once a contribution is complete within the time that the
// round in which it was trained would have waited: that round's duration and its grace time.
// Memory: one name per straggler and one entry for each of the last rounds. Pure: every call gets
// the time. Not thread-safe.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>

#include "core/round/common/machine/events.h"

namespace tributary {

class Stragglers {
 public:
  // The last stage that closed without the agent; empty: it is awaited.
  std::optional<std::uint32_t> missed_stage(const std::string& agent_id) const;

  // A round has ended. `limit_ns` is the time at which a contribution of it would have been late.
  void ended(std::uint64_t round, TimeNs limit_ns);
  // A stage of the round closed without the agent.
  void missed(const std::string& agent_id, std::uint32_t stage) { late_[agent_id] = stage; }
  // A straggler's contribution is complete; its newest update was trained for this round.
  void contributed(const std::string& agent_id, std::uint64_t trained_round, TimeNs at_ns);
  // Forgets agents that are no members any more.
  template <typename IsMember>
  void keep_only(IsMember&& is_member) {
    std::erase_if(late_, [&](const auto& one) { return !is_member(one.first); });
  }

 private:
  // An agent that needs more rounds than this is no faster than the others.
  static constexpr std::size_t kRoundsKept = 16;
  struct Ended {
    std::uint64_t round = 0;
    TimeNs limit_ns = 0;
  };

  std::map<std::string, std::uint32_t> late_;  // the missed stage, by agent id
  std::deque<Ended> rounds_;                   // ascending
};

}  // namespace tributary
