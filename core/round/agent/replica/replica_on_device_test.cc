// Tests of a replica whose rounds are applied on a device: it stays the host's to the bit, with
// every rule, and the host takes over in the round in which the device fails.
#include "core/round/agent/replica/replica_on_device.h"

#include <string>

#include "core/base/bytes/checksum.h"
#include "core/codec/cuda/codec_device.h"
#include "core/codec/cuda/emulated/emulated_testing.h"
#include "core/codec/device/codec_device.h"
#include "core/round/agent/replica/agent_parts_testing.h"
#include "core/round/common/plan/round_steps.h"

namespace tributary {
namespace {

using emulated::Operation;
using round_testing::AgentParts;
using round_testing::kSmallValues;
using round_testing::notes;
using round_testing::Packed;
using round_testing::small_job;

// A job's layers end in the middle of loads of four values, and one of them is a buffer.
wire::JobT job_of(wire::ExchangeMode mode, wire::OptimizerKind kind, const std::string& strategy) {
  wire::JobT job = small_job();
  job.mode = mode;
  job.layer_map = wire_layers(*LayerMap::make({{.name = "v", .shape = {61}},
                                               {.name = "mean", .shape = {6}},
                                               {.name = "w", .shape = {kSmallValues - 67}}}));
  job.layer_map->layers[1]->kind = wire::LayerKind::buffer;
  job.strategy = strategy;
  job.optimizer->kind = kind;
  job.optimizer->momentum = 0.9f;
  job.optimizer->beta1 = 0.9f;
  job.optimizer->beta2 = 0.99f;
  job.optimizer->epsilon = 1e-6f;
  job.optimizer->weight_decay = 0.01f;
  return job;
}

// An agent, with a device or without, that applies the same rounds as another one.
struct Stepper : AgentParts {
  Stepper(CodecDevice* device, const wire::JobT& job) : AgentParts(device) {
    EXPECT_TRUE(replica.take(*Packed(job)).ok());
    begin_at(0, 0.5f);
  }
  void begin_at(std::uint64_t version, float value) {
    const auto model = round_testing::all(value);
    const ModelId id = {.version = version, .hash = model_hash_of(*model)};
    EXPECT_TRUE(replica.adopt({.id = id, .model = model, .rule_state = {}}).ok());
  }

  // The combined payloads of a round of one agent.
  std::vector<Bytes> results_of(const RoundPlan& plan) {
    std::vector<Bytes> results;
    for (const PlannedBucket& bucket : plan.buckets()) {
      FloatVector update(bucket.values);
      for (std::size_t i = 0; i < update.size(); ++i) {
        update[i] =
            static_cast<float>(static_cast<int>((i * 37 + plan.key().round * 11) % 101) - 50);
      }
      const StageCall call = {.round = plan.context(bucket)};
      Bytes payload;
      EXPECT_TRUE(bucket.codec->make_encoder(bucket.values)->encode(call, update, payload).ok());
      results.push_back(std::move(payload));
    }
    return results;
  }

  // Applies the next round; returns whether the replica has the model of the commit.
  bool apply_next(std::uint64_t hash) {
    const auto plan = round_plan(replica.version() + 1, {.codec = "int8", .members = 1});
    const std::vector<Bytes> results = results_of(*plan);
    std::vector<CommittedBucket> buckets;
    for (std::uint32_t i = 0; i < results.size(); ++i) {
      buckets.push_back({.bucket = i, .divisor = 1, .contributors = 1, .combined = {results[i]}});
    }
    if (hash == 0) hash = hash_after(*plan, buckets);
    wire::CommitT commit;
    commit.id = std::make_unique<wire::RoundId>(1, plan->key().round, 1, 0);
    commit.model_version = plan->key().round;
    commit.previous_hash = replica.id().hash;
    commit.model_hash = hash;
    TimeNs decode_ns = 0;
    FloatVector scratch;
    return replica.apply(commit, *plan, buckets, scratch, decode_ns);
  }
  std::uint64_t hash_after(const RoundPlan& plan, const std::vector<CommittedBucket>& buckets) {
    const ModelAhead ahead = replica.go_ahead();
    FloatVector model = *ahead.model;
    FloatVector sum;
    EXPECT_TRUE(apply_round(plan, buckets, {}, *ahead.rule, sum, model).ok());
    return model_hash_of(model);
  }
  std::string last_device() {
    std::string device;
    for (const Action& action : take()) {
      const auto* note = std::get_if<Note>(&action);
      if (note != nullptr && note->name == "optimizer_steps") device = note->reason;
    }
    return device;
  }
};

struct RuleCase {
  wire::ExchangeMode mode;
  wire::OptimizerKind kind;
  const char* strategy;
};

class RoundsOnADevice : public testing::TestWithParam<RuleCase> {
 protected:
  ~RoundsOnADevice() override {
    for (const Operation operation : {Operation::allocation, Operation::launch, Operation::wait}) {
      emulated::fail_operation(operation, 0);
    }
  }
  const wire::JobT job_ = job_of(GetParam().mode, GetParam().kind, GetParam().strategy);
  const std::unique_ptr<CodecDevice> device_ = emulated::make_codec_device();
};

// The hash of a commit is that of the host.
TEST_P(RoundsOnADevice, LeaveTheModelAndTheStateOfTheHost) {
  Stepper there(device_.get(), job_);
  Stepper host(nullptr, job_);
  for (int round = 0; round < 3; ++round) {
    ASSERT_TRUE(host.apply_next(0));
    ASSERT_TRUE(there.apply_next(host.replica.id().hash));
    EXPECT_EQ(*there.replica.rule().save(), *host.replica.rule().save());
    EXPECT_TRUE(there.replica.steps_on_device());
    EXPECT_FALSE(host.replica.steps_on_device());
    if (round == 0) {
      EXPECT_EQ(there.last_device(), "emulated");
    }
  }
  EXPECT_EQ(there.last_device(), "") << "nothing has changed";
  EXPECT_EQ(host.last_device(), "");
}

// A replica that something else has changed is copied anew.
TEST_P(RoundsOnADevice, FollowAnotherModel) {
  Stepper there(device_.get(), job_);
  Stepper host(nullptr, job_);
  ASSERT_TRUE(host.apply_next(0));
  ASSERT_TRUE(there.apply_next(host.replica.id().hash));
  host.begin_at(7, 2);
  there.begin_at(7, 2);
  EXPECT_FALSE(there.replica.steps_on_device()) << "a download";
  ASSERT_TRUE(host.apply_next(0));
  EXPECT_TRUE(there.apply_next(host.replica.id().hash));
  EXPECT_EQ(there.last_device(), "emulated");
}

// A model that was made ahead of the commit is the host's.
TEST_P(RoundsOnADevice, AreNotThoseThatWereAppliedAhead) {
  Stepper there(device_.get(), job_);
  ASSERT_TRUE(there.apply_next(0));
  ModelAhead ahead = there.replica.go_ahead();
  wire::CommitT commit;
  commit.model_version = there.replica.version() + 1;
  commit.previous_hash = there.replica.id().hash;
  commit.model_hash = commit.previous_hash;
  ASSERT_TRUE(there.replica.adopt(commit, std::move(ahead)));
  EXPECT_FALSE(there.replica.steps_on_device());
  EXPECT_EQ(there.last_device(), "host");
}

// Each allocation, start and wait of a round fails once, in the first round and in the second one.
TEST_P(RoundsOnADevice, FallBackToTheHostWithinTheRound) {
  for (const Operation operation : {Operation::allocation, Operation::launch, Operation::wait}) {
    for (const bool copied : {false, true}) {
      std::uint64_t operations = 0;
      for (std::uint64_t n = 0; n <= operations; ++n) {
        SCOPED_TRACE(testing::Message() << "operation " << n << " of " << operations);
        const auto device = emulated::make_codec_device();
        int errors = 0;
        device->report_errors_to([&](const Status&) { ++errors; });
        Stepper there(device.get(), job_);
        Stepper host(nullptr, job_);
        for (int round = 0; round < (copied ? 2 : 1); ++round) {
          if (round + 1 == (copied ? 2 : 1)) emulated::fail_operation(operation, n);
          const std::uint64_t before = emulated::operations(operation);
          ASSERT_TRUE(host.apply_next(0));
          ASSERT_TRUE(there.apply_next(host.replica.id().hash));
          if (n == 0) operations = emulated::operations(operation) - before;
        }
        EXPECT_EQ(errors, n == 0 ? 0 : 1);
        EXPECT_EQ(there.last_device(), n == 0 ? "emulated" : copied ? "host" : "");
        EXPECT_EQ(*there.replica.rule().save(), *host.replica.rule().save());
        // The next round uses the device again if its memory was full.
        ASSERT_TRUE(host.apply_next(0));
        ASSERT_TRUE(there.apply_next(host.replica.id().hash));
        const bool again = n > 0 && operation == Operation::allocation;
        EXPECT_EQ(there.last_device(), again ? "emulated" : "");
      }
      ASSERT_GT(operations, 0u);
    }
  }
}

std::string rule_name(const testing::TestParamInfo<RuleCase>& one) {
  const std::string strategy = one.param.strategy;
  return strategy.empty() ? wire::EnumNameOptimizerKind(one.param.kind) : strategy;
}

INSTANTIATE_TEST_SUITE_P(
    Rules, RoundsOnADevice,
    testing::Values(RuleCase{wire::ExchangeMode::gradient, wire::OptimizerKind::sgd, ""},
                    RuleCase{wire::ExchangeMode::gradient, wire::OptimizerKind::nesterov, ""},
                    RuleCase{wire::ExchangeMode::gradient, wire::OptimizerKind::adagrad, ""},
                    RuleCase{wire::ExchangeMode::gradient, wire::OptimizerKind::rmsprop, ""},
                    RuleCase{wire::ExchangeMode::gradient, wire::OptimizerKind::adamw, ""},
                    RuleCase{wire::ExchangeMode::delta, wire::OptimizerKind::sgd, "fedavgm"},
                    RuleCase{wire::ExchangeMode::delta, wire::OptimizerKind::sgd, "fedyogi"}),
    rule_name);

// The host decodes this codec, and a copy of its sums to the device would cost as much as the step.
TEST(RoundsOnTheHost, AreThoseOfCodecsThatItDecodes) {
  const auto device = emulated::make_codec_device();
  Stepper there(device.get(), job_of(wire::ExchangeMode::gradient, wire::OptimizerKind::adam, ""));
  const auto plan = there.round_plan(1, {.codec = "zstd", .members = 1});
  const std::vector<Bytes> results = there.results_of(*plan);
  const CommittedBucket first = {.bucket = 0, .combined = {results[0]}};
  EXPECT_FALSE(decodes_on_device(*plan, first));
  ReplicaOnDevice on_device({.device = device.get()});
  FloatVector scratch;
  const std::uint64_t before = emulated::operations(Operation::launch);
  EXPECT_FALSE(on_device.apply(
      *plan, {first},
      {.id = there.replica.id(), .model = *there.replica.model(), .rule = there.replica.rule()},
      scratch));
  EXPECT_EQ(emulated::operations(Operation::launch), before);
}

}  // namespace
}  // namespace tributary
