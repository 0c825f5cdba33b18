// What a job fixes about how its rounds are done, and what it leaves to a planner: part of its
// record.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/bytes/bytes.h"
#include "core/base/status.h"
#include "schemas/policy_generated.h"

namespace tributary {

inline constexpr double kExploringShareMax = 0.5;

// Who chooses codec, ratio, collective and buckets of a round: the job, or a planner with a goal.
struct Planning {
  wire::PlanGoal goal = wire::PlanGoal::fixed;
  double time_budget_s = 0;
  double bytes_per_day = 0;
  double gain_weight = 1;  // how much gain counts against time
  double gain_min = 0.05;  // nothing that lets less through, if there is anything else
  // Of the rounds' time, how much agents may take to try other codecs; 0: they try none.
  double exploring_share = 0;

  bool planned() const { return goal != wire::PlanGoal::fixed; }
  friend bool operator==(const Planning&, const Planning&) = default;
};

struct RoundPolicy {
  std::string codec = "fp32";
  // Where it is not empty: bucket b is exchanged by codecs[b % codecs.size()], whatever `codec`
  // says.
  std::vector<std::string> codecs = {};
  std::uint64_t bucket_values_max = std::uint64_t{1} << 20;
  // Where agents can reach one another; the star where they cannot.
  wire::Collective collective = wire::Collective::star;
  // Among peers: trainings and exchanges, one after the other, that are committed together. For
  // members that are near one another and far from the coordinator.
  std::uint32_t exchanges_per_round = 1;
  // Where a planner chooses, all of these are what rounds begin with, before it has chosen.
  Planning planning = {};
  double learning_rate = 1;
  std::uint32_t local_steps = 1;

  std::uint32_t agents_min = 1;  // ready ones, before a round begins
  double quorum_fraction = 0.5;  // of the participants, rounded up; never under agents_min
  std::uint32_t deadline_ms = 60'000;
  std::uint32_t preliminary_deadline_ms = 30'000;
  std::uint32_t retry_after_ms =
      200;  // from an abort to the next attempt; doubles up to 32 times it
  // How long a round waits for agents that are just catching up.
  std::uint32_t catch_up_wait_ms = 0;
  std::vector<std::string> agents = {};  // that may work for the job; empty: all
  double fraction = 1;                   // of the ready ones, drawn anew for each round

  std::uint32_t checkpoint_rounds = 64;  // a full checkpoint after so many, or
  double checkpoint_redo_models = 2;     // after so many times the model's bytes of redo

  friend bool operator==(const RoundPolicy&, const RoundPolicy&) = default;
};

Status check(const RoundPolicy& policy);

// As a journal keeps it: schemas/policy.fbs behind its size in four bytes.
Bytes encode(const RoundPolicy& policy);
// Also reads the five formats of earlier builds, which begin with their version, 1 to 5: less than
// any size. invalid_argument, corrupt_data: neither, or a policy that `check` refuses.
Result<RoundPolicy> decode_policy(ByteSpan bytes);

}  // namespace tributary
