// Fixtures for tests of an agent's parts that use a replica: a small job, its model and its plans.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/round/agent/context/context_parts_testing.h"
#include "core/round/agent/replica/replica.h"
#include "core/round/common/plan/plan_builder.h"

namespace tributary::round_testing {

inline constexpr std::uint64_t kSmallValues = 128;
inline constexpr std::uint32_t kBucketValues = 64;  // the smallest size that a plan can have

inline wire::JobT small_job(std::uint64_t job = 1) {
  wire::JobT made;
  made.job = job;
  made.revision = 1;
  made.name = "small";
  made.state = wire::JobState::running;
  made.mode = wire::ExchangeMode::delta;
  made.rounds = 100;
  made.weighting = wire::Weighting::equal;
  made.model = std::make_unique<wire::ModelT>();
  made.model->kind = wire::ModelKind::built_in;
  made.model->name = "none";
  made.layer_map = wire_layers(*LayerMap::make({{.name = "v", .shape = {kSmallValues}}}));
  made.optimizer = std::make_unique<wire::OptimizerT>();
  made.optimizer->kind = wire::OptimizerKind::sgd;
  return made;
}

inline std::shared_ptr<FloatVector> all(float value) {
  return std::make_shared<FloatVector>(kSmallValues, value);
}

// One value per bucket.
inline FloatVector by_bucket(float first, float second) {
  FloatVector values = *all(first);
  std::fill(values.begin() + kBucketValues, values.end(), second);
  return values;
}

// The fields in which a test's plan differs from the usual one.
struct Planned {
  std::string codec = "fp32";
  std::uint32_t members = 2;
  wire::Collective collective = wire::Collective::star;
  std::uint32_t exchanges = 1;
  std::uint32_t attempt = 0;
  std::vector<std::string> trials = {};
  double weight = 1;
  bool standalone = false;
};

// The parts of an agent that all other parts require.
struct AgentParts : ContextParts {
  using ContextParts::ContextParts;

  Replica replica{context};
  CodecCache codecs;

  // Gives the replica this version, with a model whose values are all `value`.
  void have_model(std::uint64_t version = 0, float value = 0, double norm_max = 0,
                  const std::string& schedule = {}, std::uint32_t rounds = 100) {
    wire::JobT job = small_job();
    job.rounds = rounds;
    job.norm_max = norm_max;
    job.schedule = schedule;
    ASSERT_TRUE(replica.take(*Packed(job)).ok());
    const auto model = all(value);
    const ModelId id = {.version = version, .hash = model_hash_of(*model)};
    ASSERT_TRUE(replica.adopt({.id = id, .model = model, .rule_state = {}}).ok());
  }

  // The epoch of an aggregator in the network.
  static wire::SumsInNetworkT sums_of(const Planned& planned) {
    const auto table =
        thc::network_table(*thc::network_codec(planned.codec, planned.members), planned.members);
    EXPECT_TRUE(table.ok()) << table.status().text();
    wire::SumsInNetworkT sums;
    sums.handle = 7;
    sums.epoch = 3;
    sums.agents = planned.members;
    sums.slot_count = 16;
    sums.packet_values = 128;
    sums.table = table->fingerprint;
    sums.wide = table->wide;
    sums.check_secret = 99;
    return sums;
  }

  // A plan of two buckets in epoch 1.
  wire::PlanT plan(std::uint64_t round, const Planned& planned) {
    RoundPolicy policy;
    policy.codec = planned.codec;
    policy.bucket_values_max = kBucketValues;
    policy.collective = wire::Collective::star;
    wire::SumsInNetworkT sums;
    if (planned.collective == wire::Collective::in_network) {
      policy.collective = planned.collective;
      sums = sums_of(planned);
    }
    const RoundKey key = {.job = 1, .round = round, .epoch = 1, .attempt = planned.attempt};
    Result<wire::PlanT> made = build_plan(*replica.job(), policy, codecs,
                                          {.key = key,
                                           .model_hash = replica.id().hash,
                                           .participants = Bitmap(planned.members, true),
                                           .weights = std::vector<double>(planned.members, 1.0),
                                           .payload_bytes = 1024,
                                           .collective = planned.collective,
                                           .aggregator = "10.0.0.1:4650",
                                           .sums = sums,
                                           .exchanges_per_round = planned.exchanges,
                                           .standalone = planned.standalone,
                                           .trials = planned.trials,
                                           .trial_s = 1});
    EXPECT_TRUE(made.ok()) << made.status().text();
    made->weight = planned.weight;
    return std::move(*made);
  }
  std::shared_ptr<const RoundPlan> round_plan(std::uint64_t round, const Planned& planned = {}) {
    auto made = RoundPlan::make(plan(round, planned), *replica.job(), codecs);
    EXPECT_TRUE(made.ok()) << made.status().text();
    return *made;
  }
};

}  // namespace tributary::round_testing
