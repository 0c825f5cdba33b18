// The agents that a job does not wait for, because a stage closed without them when its grace time
// had passed.
//
// Such an agent stays a member: it gets every plan and result, and its payload counts whenever it
// arrives in time. It is awaited again once a contribution is complete within the time that the
// round in which it was trained would have waited: that round's duration and its grace time.
// An agent that has not contributed for kRoundsWithoutMax rounds gets a patient round, which waits
// kPatience grace times for it. If it misses that round as well, its next one comes after twice as
// many rounds. An agent that is sending a payload for a later round gets its patient round later.
// Memory: one entry per straggler and one for each of the last rounds. Pure: every call gets the
// time. Not thread-safe.
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
  static constexpr std::uint32_t kRoundsWithoutMax = 11;
  static constexpr std::int64_t kPatience = 16;
  // Such an agent gets its patient round after this many times as many rounds.
  static constexpr std::uint32_t kRoundsFactorOfUploads = 4;

  // The last stage that closed without the agent; empty: it is awaited.
  std::optional<std::uint32_t> missed_stage(const std::string& agent_id) const;

  // Whether the next round has to be patient for the sake of this agent. `uploads`: the agent is
  // sending a payload that a later round will count.
  bool needs_patience(const std::string& agent_id, bool uploads) const;

  // A round has ended. `limit_ns` is the time at which a contribution of it would have been late; 0
  // after a patient round, which proves no agent fast.
  void ended(std::uint64_t round, TimeNs limit_ns);
  // A stage of the round, which may have been patient, closed without the agent.
  void missed(const std::string& agent_id, std::uint32_t stage, bool patient);
  // A straggler's contribution is complete; its newest update was trained for this round.
  void contributed(const std::string& agent_id, std::uint64_t trained_round, TimeNs at_ns);
  // Forgets the other agents.
  template <typename IsKept>
  void keep_only(IsKept&& is_kept) {
    std::erase_if(late_, [&](const auto& item) { return !is_kept(item.first); });
  }

 private:
  // An agent that needs more rounds than this is no faster than the others.
  static constexpr std::size_t kRoundsKept = 16;
  struct Ended {
    std::uint64_t round = 0;
    TimeNs limit_ns = 0;
  };

  struct Late {
    std::uint32_t stage = 0;           // the last one that it missed
    std::uint32_t rounds_without = 0;  // since its last contribution or patient round
    std::uint32_t patience_after = kRoundsWithoutMax;
  };

  std::map<std::string, Late> late_;  // by agent id
  std::deque<Ended> rounds_;          // ascending
};

}  // namespace tributary
