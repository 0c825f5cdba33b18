// The settings of a job that govern its rounds, and the choices that it leaves to a planner. They
// are stored as part of the job's record.
//
// The functions are pure. Reading trusts nothing: sizes and counts are bounded before anything is
// allocated, and check() runs on everything that was read. Every build reads the formats of all
// earlier ones.
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
  // For the goal `time_budget`: seconds for all rounds of the job.
  double time_budget_s = 0;
  // For the goal `byte_budget`: bytes per day over an agent's link, in both directions.
  double bytes_per_day = 0;
  double gain_weight = 1;  // weight of gain against time
  double gain_min = 0.05;  // an alternative with less gain is chosen only if all have less
  // Share of the rounds' time that agents may spend on measuring other codecs; 0: none.
  double exploring_share = 0;
  // The codecs, without a ratio, and the collectives that a planner may choose; empty: all.
  std::vector<std::string> codecs = {};
  std::vector<wire::Collective> collectives = {};

  bool planned() const { return goal != wire::PlanGoal::fixed; }
  friend bool operator==(const Planning&, const Planning&) = default;
};

// Settings of a job's rounds. If a planner chooses, codec, collective and buckets apply until its
// first decision.
struct RoundPolicy {
  std::string codec = "fp32";
  // If not empty, bucket b uses codecs[b % codecs.size()], and `codec` is ignored.
  std::vector<std::string> codecs = {};
  // Largest number of values in a bucket. A bucket counts completely or not at all, so smaller
  // buckets lose less if an agent fails.
  std::uint64_t bucket_values_max = std::uint64_t{1} << 20;
  // Largest layer, in values, that a codec of whole layers gets in one bucket, also above
  // bucket_values_max. Larger layers are cut between rows. Bounds an agent's memory for a bucket.
  std::uint64_t layer_values_max = std::uint64_t{1} << 22;
  // How layers become buckets, as text (parse_layer_grouping). If not empty, every bucket is a
  // group of whole layers, and bucket_values_max does not bound it.
  std::string fusion = {};
  // Used if the agents can reach one another; otherwise rounds use the star.
  wire::Collective collective = wire::Collective::star;
  // In an exchange among peers: number of trainings and exchanges that are committed together. More
  // than 1 pays if members are near one another and far from the coordinator.
  std::uint32_t exchanges_per_round = 1;
  Planning planning = {};
  double learning_rate = 1;
  // Optimizer steps of an agent in one training.
  std::uint32_t local_steps = 1;

  std::uint32_t agents_min = 1;  // number of ready agents that a round requires
  double quorum_fraction = 0.5;  // of the participants, rounded up; at least agents_min
  // A stage that has its quorum and half of the awaited payloads closes after a grace time: this
  // share of the time in which the last of these arrived, and at least `grace_ms`. Members that
  // are late then are not awaited until they are as fast as the others again. 0 ms: a stage waits
  // for all until its deadline.
  std::uint32_t grace_ms = 1'000;
  double grace_factor = 1;
  // Time from the plan to the end of an attempt.
  std::uint32_t deadline_ms = 60'000;
  // Time from the plan to the end of all stages before the last.
  std::uint32_t preliminary_deadline_ms = 30'000;
  // Pause from an abort to the next attempt. It doubles with each attempt, up to 32 times this.
  std::uint32_t retry_after_ms = 200;
  // Time for which a round waits for agents that are catching up.
  std::uint32_t catch_up_wait_ms = 0;
  std::vector<std::string> agents = {};  // the agents that may work for the job; empty: all
  double fraction = 1;                   // of the ready agents, drawn anew for each round
  // Agents count by at most this multiple of the median of examples, if the job weights by them.
  double weight_cap = 1000;

  // A full checkpoint is stored after this number of rounds, or once the redo since the last one
  // has this many times the model's bytes. More redo makes a restart slower.
  std::uint32_t checkpoint_rounds = 64;
  double checkpoint_redo_models = 2;

  friend bool operator==(const RoundPolicy&, const RoundPolicy&) = default;
};

// Returns invalid_argument if a value is out of range. Specs of codecs are not checked here.
Status check(const RoundPolicy& policy);

// The stored form: the table of schemas/policy.fbs after its size in four bytes.
Bytes encode(const RoundPolicy& policy);
// Reads the stored form, and the five formats of earlier builds. Those begin with their version, 1
// to 5, which is less than any valid size. Returns corrupt_data for damaged bytes and
// invalid_argument for a policy that `check` refuses.
Result<RoundPolicy> decode_policy(ByteSpan bytes);

}  // namespace tributary
