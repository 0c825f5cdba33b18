// The settings of a job that govern its rounds, and the choices that it leaves to a planner. They
// are stored as part of the job's record.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/bytes/bytes.h"
#include "core/base/status.h"
#include "schemas/policy_generated.h"

namespace tributary {

// Upper bound of Planning::exploring_share.
inline constexpr double kExploringShareMax = 0.5;

// Decides whether the job itself (goal `fixed`) or a planner chooses codec, ratio, collective and
// buckets of a round.
struct Planning {
  wire::PlanGoal goal = wire::PlanGoal::fixed;
  double time_budget_s = 0;
  double bytes_per_day = 0;
  double gain_weight = 1;  // weight of gain against time
  double gain_min = 0.05;  // an alternative with less gain is chosen only if all have less
  // Share of the rounds' time that agents may spend on measuring other codecs; 0: none.
  double exploring_share = 0;

  bool planned() const { return goal != wire::PlanGoal::fixed; }
  friend bool operator==(const Planning&, const Planning&) = default;
};

// Settings of a job's rounds. If a planner chooses, codec, collective and buckets apply until its
// first decision.
struct RoundPolicy {
  std::string codec = "fp32";
  // If not empty, bucket b uses codecs[b % codecs.size()], and `codec` is ignored.
  std::vector<std::string> codecs = {};
  std::uint64_t bucket_values_max = std::uint64_t{1} << 20;
  // Used if the agents can reach one another; otherwise rounds use the star.
  wire::Collective collective = wire::Collective::star;
  // In an exchange among peers: number of trainings and exchanges that are committed together. More
  // than 1 pays if members are near one another and far from the coordinator.
  std::uint32_t exchanges_per_round = 1;
  Planning planning = {};
  double learning_rate = 1;
  std::uint32_t local_steps = 1;

  std::uint32_t agents_min = 1;  // number of ready agents that a round requires
  double quorum_fraction = 0.5;  // of the participants, rounded up; at least agents_min
  std::uint32_t deadline_ms = 60'000;
  std::uint32_t preliminary_deadline_ms = 30'000;
  std::uint32_t retry_after_ms =
      200;  // from an abort to the next attempt; doubles up to 32 times it
  // Time for which a round waits for agents that are catching up.
  std::uint32_t catch_up_wait_ms = 0;
  std::vector<std::string> agents = {};  // the agents that may work for the job; empty: all
  double fraction = 1;                   // of the ready agents, drawn anew for each round

  // A full checkpoint is stored after this number of rounds, or.
  std::uint32_t checkpoint_rounds = 64;
  double checkpoint_redo_models = 2;  // once the redo has this many times the model's bytes

  friend bool operator==(const RoundPolicy&, const RoundPolicy&) = default;
};

// Returns invalid_argument if a value is out of range or a codec's spec is not valid.
Status check(const RoundPolicy& policy);

// The stored form: the table of schemas/policy.fbs after its size in four bytes.
Bytes encode(const RoundPolicy& policy);
// Reads the stored form, and the five formats of earlier builds. Those begin with their version, 1
// to 5, which is less than any valid size. Returns corrupt_data for damaged bytes and
// invalid_argument for a policy that `check` refuses.
Result<RoundPolicy> decode_policy(ByteSpan bytes);

}  // namespace tributary
