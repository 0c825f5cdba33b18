// Tests of agents whose numbers cannot be added, and of results that are not finite. The job goes
// on without these agents, or ends with the reason if no agent is left.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <memory>
#include <set>
#include <vector>

#include "core/codec/cuda/codec_device.h"
#include "core/sim/checks/ledger.h"
#include "core/sim/federation/federation_testing.h"

namespace tributary {
namespace {

using sim_testing::Federation;
using sim_testing::Options;

constexpr std::uint32_t kFaultyMember = 1;
// Finite, and so is a sum of it; its square is not. A power of two, so that sums stay exact.
constexpr float kSquareOverflows = 0x1p100f;

Options options_of_faults(const std::string& codec = "fp32") {
  Options options;
  options.agents = 4;
  options.rounds = 12;
  options.policy.codec = codec;
  options.policy.agents_min = 4;  // an agent that is left out still counts as ready
  options.policy.quorum_fraction = 1;
  options.policy.deadline_ms = 400;
  options.policy.preliminary_deadline_ms = 200;
  options.policy.retry_after_ms = 20;
  return options;
}

// With the optimizer's squares, only the step shows that an update is too large.
Options options_with_adam(std::uint32_t agents) {
  Options options = options_of_faults();
  options.agents = options.policy.agents_min = agents;
  options.change_job = [](wire::JobT& job) {
    job.mode = wire::ExchangeMode::gradient;
    job.optimizer->kind = wire::OptimizerKind::adam;
    job.optimizer->beta1 = 0.9;
    job.optimizer->beta2 = 0.999;
    job.optimizer->epsilon = 1e-8;
  };
  return options;
}

// Puts a value into the updates of one agent, from update `first` to update `last`.
void put_fault(Federation& federation, std::uint32_t culprit, float value, std::uint64_t first,
               std::uint64_t last) {
  federation.twist = [culprit, value, first, last, given = std::uint64_t{0}](
                         std::uint32_t agent, FloatVector& update) mutable {
    if (agent != culprit) return;
    ++given;
    if (given >= first && given <= last) update[7] = value;
  };
}

std::uint64_t rounds_with_member(const Federation& federation, std::uint32_t member) {
  std::uint64_t rounds = 0;
  for (const CommitRecord& commit : federation.journal().commits()) {
    for (const ContributorSetRecord& set : commit.round.contributor_sets) {
      if (Bitmap(set.bits, commit.round.members).test(member)) {
        ++rounds;
        break;
      }
    }
  }
  return rounds;
}

// `named` is the only agent that the coordinator has excluded.
void expect_one_named(Federation& federation, std::uint32_t named, double tolerance = 0) {
  ASSERT_TRUE(federation.run_to_the_end()) << federation.describe();
  EXPECT_GT(federation.noted("agent_excluded"), 0);
  EXPECT_NE(federation.log.text("agent_excluded").find(Ledger::agent_name(named)),
            std::string::npos)
      << federation.log.text("agent_excluded");
  EXPECT_TRUE(std::ranges::all_of(*federation.coordinator().model(),
                                  [](float value) { return std::isfinite(value); }));
  federation.expect_identical();
  federation.expect_conserved(tolerance);
}

TEST(FaultyNumbers, OneBadUpdateCostsItsAgentOneRound) {
  for (const float value : {std::numeric_limits<float>::quiet_NaN(), INFINITY, 3.4e38f}) {
    for (const char* codec : {"fp32", "topk:cr=0.1", "int8", "gcomp", "thc"}) {
      Federation federation(options_of_faults(codec));
      put_fault(federation, kFaultyMember, value, 3, 3);
      expect_one_named(federation, kFaultyMember,
                       codec == std::string("int8") || codec == std::string("thc") ? 1e-3 : 0);
      EXPECT_EQ(federation.noted("agent_excluded"), 1) << codec << " " << value;
      EXPECT_EQ(rounds_with_member(federation, kFaultyMember), 11u) << codec << " " << value;
      // The quorum asks for all participants, so the round needs a second attempt without it.
      EXPECT_LE(federation.noted("round_aborted"), 1) << codec << " " << value;
    }
  }
}

// A device's kernels see the values that the host would, and are no reason to give the device up.
// The model is not compared with that of a job without devices: when the round is aborted, one of
// them may have encoded what the other has not.
TEST(FaultyNumbers, AreFoundByTheKernelsOfADevice) {
  for (const char* codec : {"int8", "thc"}) {
    std::vector<std::unique_ptr<CodecDevice>> devices;
    Options options = options_of_faults(codec);
    for (std::uint32_t i = 0; i < options.agents; ++i) {
      devices.push_back(emulated::make_codec_device());
      devices[i]->report_errors_to([](const Status& error) { ADD_FAILURE() << error.text(); });
    }
    options.device_of = [&](std::uint32_t agent) { return devices[agent].get(); };
    Federation federation(options);
    put_fault(federation, kFaultyMember, std::numeric_limits<float>::quiet_NaN(), 3, 3);
    expect_one_named(federation, kFaultyMember, 1e-3);
    EXPECT_EQ(federation.noted("agent_excluded"), 1) << codec;
  }
}

TEST(FaultyNumbers, AnAgentThatIsAlwaysBadIsTriedLessAndLess) {
  Options options = options_of_faults();
  options.rounds = 40;
  Federation federation(options);
  put_fault(federation, kFaultyMember, std::numeric_limits<float>::quiet_NaN(), 1, UINT64_MAX);
  expect_one_named(federation, kFaultyMember);
  EXPECT_EQ(rounds_with_member(federation, kFaultyMember), 0u);
  // In rounds 1, 2, 4, 8, 16 and 32.
  EXPECT_EQ(federation.noted("agent_excluded"), 6);
}

TEST(FaultyNumbers, AnAgentThatOnlyTheStepShowsIsFoundByHalving) {
  for (const std::uint32_t culprit : {0u, 3u, 7u}) {
    Federation federation(options_with_adam(8));
    put_fault(federation, culprit, kSquareOverflows, 3, 3);
    expect_one_named(federation, culprit, 100);
    EXPECT_EQ(federation.noted("agent_excluded"), 1) << culprit;
    EXPECT_EQ(federation.noted("residual_dropped"), 1) << culprit;
    // Three halvings, and the attempt with a single suspect.
    EXPECT_LE(federation.noted("bucket_dropped"), 4) << culprit;
    for (std::uint32_t agent = 0; agent < 8; ++agent) {
      EXPECT_GE(rounds_with_member(federation, agent), 7u) << agent;
    }
  }
}

TEST(FaultyNumbers, ACoordinatorThatStartsAgainFindsTheAgentAgain) {
  for (const int searched : {1, 2}) {
    Federation federation(options_with_adam(8));
    put_fault(federation, 5, kSquareOverflows, 3, UINT64_MAX);
    ASSERT_TRUE(federation.run([&] { return federation.noted("cause_searched") >= searched; }));
    federation.crash_coordinator();
    federation.start_coordinator();
    expect_one_named(federation, 5, 1e32);
    EXPECT_EQ(federation.noted("job_diverged"), 0);
  }
}

TEST(FaultyNumbers, AnExclusionSurvivesARestartOfTheCoordinator) {
  Options options = options_of_faults();
  options.rounds = 40;
  Federation federation(options);
  put_fault(federation, kFaultyMember, std::numeric_limits<float>::quiet_NaN(), 1, UINT64_MAX);
  // Two of these rounds are followed by one in which the agent takes part again.
  for (const std::uint64_t version : {1u, 5u, 15u, 24u}) {
    ASSERT_TRUE(
        federation.run([&] { return federation.coordinator().model_version() >= version; }));
    federation.crash_coordinator();
    federation.start_coordinator();
  }
  expect_one_named(federation, kFaultyMember);
  EXPECT_EQ(rounds_with_member(federation, kFaultyMember), 0u);
  EXPECT_EQ(federation.noted("agent_excluded"), 6) << "as without restarts";
}

TEST(FaultyNumbers, AnAgentThatCrashesBeforeItHasStoredTheLossIsExcludedAgain) {
  Federation federation(options_with_adam(4));
  put_fault(federation, kFaultyMember, kSquareOverflows, 3, 3);
  ASSERT_TRUE(federation.run([&] { return federation.noted("residual_dropped") > 0; }));
  federation.crash_agent(kFaultyMember);
  federation.start_agent(kFaultyMember);
  expect_one_named(federation, kFaultyMember, 100);
}

TEST(FaultyNumbers, PeersGoOnByTheStarAndThenWithoutTheAgent) {
  Options options = options_of_faults();
  options.peers = true;
  options.policy.collective = wire::Collective::ring;
  options.rounds = 20;
  Federation federation(options);
  put_fault(federation, kFaultyMember, std::numeric_limits<float>::quiet_NaN(), 3, UINT64_MAX);
  expect_one_named(federation, kFaultyMember);
  std::uint64_t by_ring_without = 0;
  for (const CommitRecord& commit : federation.journal().commits()) {
    const auto& bits = commit.round.contributor_sets.at(0).bits;
    if (commit.round.id.round > 4 && !Bitmap(bits, commit.round.members).test(kFaultyMember)) {
      ++by_ring_without;
    }
  }
  EXPECT_GT(by_ring_without, 5u);
}

void expect_diverged(Federation& federation, std::uint64_t version) {
  ASSERT_TRUE(federation.run([&] { return federation.noted("job_diverged") > 0; }))
      << federation.describe();
  ASSERT_TRUE(federation.run([&] {
    return federation.journal().state().jobs.at(0).job.state == wire::JobState::stopped;
  }));
  EXPECT_EQ(federation.journal().state().jobs.at(0).job.state_reason, "model_not_finite");
  EXPECT_EQ(federation.coordinator().model_version(), version);
  EXPECT_TRUE(std::ranges::all_of(*federation.coordinator().model(),
                                  [](float value) { return std::isfinite(value); }));
}

TEST(FaultyNumbers, AJobWithoutFiniteNumbersEnds) {
  Federation federation(options_of_faults());
  federation.twist = [given = std::uint64_t{0}](std::uint32_t, FloatVector& update) mutable {
    if (++given > 8) update[3] = INFINITY;
  };
  expect_diverged(federation, 2);
  EXPECT_LE(federation.noted("round_aborted"), 3);
}

TEST(FaultyNumbers, AJobWithoutFiniteStepsEnds) {
  for (const std::uint32_t agents : {1u, 4u}) {
    Federation federation(options_with_adam(agents));
    federation.twist = [](std::uint32_t, FloatVector& update) { update[3] = kSquareOverflows; };
    expect_diverged(federation, 0);
    EXPECT_LE(federation.noted("round_aborted"), 4 * (std::bit_width(agents) + 1) + 1);
  }
}

}  // namespace
}  // namespace tributary
