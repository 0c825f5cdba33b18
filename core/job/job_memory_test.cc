// Tests of the estimate of a job's memory: which vectors are in it, and how they follow the job.
#include "core/job/job_memory.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "core/job/job_settings.h"
#include "core/round/common/plan/model_rule.h"

namespace tributary {
namespace {

constexpr std::uint64_t kParameters = 4u << 20;
constexpr std::uint64_t kModelBytes = kParameters * sizeof(float);
constexpr CoordinatorLimits kLimits = {.incoming_bytes_max = 17u << 20,
                                       .redo_models = 1,
                                       .redo_bytes_in_memory_max = 12u << 20,
                                       .outgoing_bytes_max = 16u << 20,
                                       .payload_bytes_max = 4u << 20};

JobMemory estimate(const std::function<void(JobSettings&)>& change) {
  JobSettings settings;
  settings.name = "job";
  settings.rounds = 10;
  settings.parameters = kParameters;
  settings.policy.agents_min = 4;
  change(settings);
  const Result<SubmitJob> submit = submission(settings);
  EXPECT_TRUE(submit.ok()) << submit.status().text();
  const Result<JobMemory> memory = memory_of(*submit, kLimits);
  EXPECT_TRUE(memory.ok()) << memory.status().text();
  return *memory;
}

JobMemory estimate_of(const std::string& codec) {
  return estimate([&](JobSettings& job) { job.policy.codec = codec; });
}

std::uint64_t held(const std::vector<Holding>& holdings, std::string_view what) {
  for (const Holding& holding : holdings) {
    if (holding.what == what) return holding.bytes;
  }
  ADD_FAILURE() << what;
  return 0;
}

TEST(JobMemory, ALosslessCodecNeedsNoResidual) {
  const JobMemory memory = estimate_of("fp32");
  EXPECT_EQ(held(memory.agent, "model"), kModelBytes);
  EXPECT_EQ(held(memory.agent, "residual"), 0u);
  EXPECT_EQ(held(memory.agent, "residual if the round counts"), 0u);
  EXPECT_NEAR(static_cast<double>(held(memory.agent, "own payloads")),
              static_cast<double>(kModelBytes), 0.01 * kModelBytes);
  EXPECT_EQ(held(memory.coordinator, "residual of the sum"), 0u);
  EXPECT_EQ(held(memory.coordinator, "payloads that arrive"), (17u << 20) * 3 / 2) << "the limit";
}

TEST(JobMemory, ACodecThatEncodesTheSumAgainNeedsAResidualAtTheCoordinator) {
  const JobMemory memory = estimate_of("threelc");
  EXPECT_EQ(held(memory.agent, "residual"), kModelBytes);
  EXPECT_EQ(held(memory.agent, "residual if the round counts"), kModelBytes);
  EXPECT_EQ(held(memory.coordinator, "sums"), kModelBytes);
  EXPECT_EQ(held(memory.coordinator, "residual of the sum"), kModelBytes);
  EXPECT_LT(held(memory.coordinator, "payloads that arrive"), kModelBytes) << "four small payloads";
}

// Older ones are in the journal. Those of the last round always stay.
TEST(JobMemory, ResultsOfEarlierRoundsHaveALimit) {
  EXPECT_EQ(held(estimate_of("threelc").coordinator, "results of earlier rounds"), 12u << 20);
  EXPECT_GT(held(estimate_of("fp32").coordinator, "results of earlier rounds"), kModelBytes - 1);
}

// Messages to all agents are bounded together; a connection costs something for each agent.
TEST(JobMemory, ManyAgentsCostTheirConnections) {
  const auto with = [](std::uint32_t agents) {
    return estimate([&](JobSettings& job) {
      job.policy.codec = "thc:bits=4";
      job.policy.agents_min = agents;
    });
  };
  const JobMemory few = with(2);
  const JobMemory many = with(1'000);
  EXPECT_EQ(held(few.coordinator, "parts that are being sent"), 2 * (4u << 20));
  EXPECT_EQ(held(many.coordinator, "parts that are being sent"), 16u << 20) << "the limit";
  EXPECT_EQ(held(many.coordinator, "connections"), 500 * held(few.coordinator, "connections"));
  EXPECT_GT(held(many.coordinator, "connections"), 100u << 20);
}

TEST(JobMemory, IntegerSumsAreSmallerThanTheModel) {
  const JobMemory memory = estimate_of("thc:bits=4");
  EXPECT_LT(held(memory.coordinator, "sums"), kModelBytes / 2);
  EXPECT_LT(held(memory.agent, "own payloads"), kModelBytes / 6);
}

TEST(JobMemory, TheOptimizerHasItsMoments) {
  const auto with = [](const std::string& optimizer) {
    return estimate([&](JobSettings& job) {
      job.mode = "gradient";
      job.optimizer = optimizer;
    });
  };
  EXPECT_EQ(held(with("sgd").agent, "optimizer state"), 0u);
  EXPECT_EQ(held(with("momentum").agent, "optimizer state"), kModelBytes);
  EXPECT_EQ(held(with("adam").coordinator, "optimizer state, before and after the round"),
            4 * kModelBytes);
  const JobMemory delta = estimate([](JobSettings& job) {
    job.optimizer = "adam";  // of the agents' trainers
    job.strategy = "fedavgm";
  });
  EXPECT_EQ(held(delta.agent, "optimizer state"), kModelBytes);
}

constexpr const char* kEarly = "copy of values that peers get early";

TEST(JobMemory, PeersAddAtTheAgentsAndAgentsTrainAhead) {
  const JobMemory ring = estimate([](JobSettings& job) {
    job.collective = "ring";
    job.policy.exchanges_per_round = 4;
  });
  EXPECT_EQ(held(ring.coordinator, "sums"), 0u);
  EXPECT_GT(held(ring.agent, "partial sums of peers"), kModelBytes / 2);
  EXPECT_EQ(held(ring.agent, "model and input ahead of the commit"), 2 * kModelBytes);
  EXPECT_GT(total_bytes(ring.agent), 5 * kModelBytes);
  const auto ahead_by = [](const char* collective, std::uint64_t values = kParameters) {
    const JobMemory one = estimate([&](JobSettings& job) {
      job.parameters = values;
      job.mode = "gradient";
      job.optimizer = "momentum";
      job.collective = collective;
      job.policy.codec = "thc";
    });
    return held(one.agent, "model and input ahead of the commit");
  };
  EXPECT_EQ(held(ring.agent, kEarly), 0u) << "by deltas";
  const JobMemory early = estimate([](JobSettings& job) {
    job.mode = "gradient";
    job.collective = "ring";
    job.policy.codec = "thc";
  });
  EXPECT_EQ(held(early.agent, kEarly), kModelBytes);
  EXPECT_EQ(ahead_by("ring"), 2 * kModelBytes) << "with the optimizer's state";
  EXPECT_EQ(ahead_by("star"), 2 * kModelBytes);
  EXPECT_EQ(ahead_by("star", kLargeModelBytes / sizeof(float)), 0u);
  EXPECT_EQ(ahead_by("in_network"), 0u);
}

TEST(JobMemory, TheCodecThatNeedsMostCounts) {
  const JobMemory both = estimate([](JobSettings& job) {
    job.policy.codecs = {"fp32", "threelc"};
  });
  EXPECT_EQ(held(both.agent, "residual"), kModelBytes);
  EXPECT_GT(held(both.agent, "own payloads"), kModelBytes * 9 / 10);
}

}  // namespace
}  // namespace tributary
