// Tests of participation: which agents contribute to a round, and with which weight.
#include <gtest/gtest.h>

#include <set>

#include "core/sim/federation/federation_testing.h"

namespace tributary {
namespace {

using sim_testing::Federation;
using sim_testing::Options;

const ContributorSetRecord& contributors(const CommitRecord& commit) {
  EXPECT_EQ(commit.round.contributor_sets.size(), 1u);
  return commit.round.contributor_sets.front();
}

TEST(Participants, UpdatesCountByExamplesOnceTheyAreKnown) {
  Options options;
  options.policy.agents_min = 3;
  options.policy.codec = "fp32";
  options.change_job = [](wire::JobT& job) { job.weighting = wire::Weighting::examples; };
  options.examples_of = [](std::uint32_t agent) { return std::uint64_t{100} << agent; };
  Federation federation(options);
  ASSERT_TRUE(federation.run_to_the_end()) << federation.describe();
  federation.expect_identical();
  const auto& commits = federation.journal().commits();
  ASSERT_EQ(commits.size(), 5u);
  EXPECT_EQ(contributors(commits.front()).divisor, 3);
  EXPECT_EQ(contributors(commits.back()).divisor, 0.25 + 0.5 + 1);
  // The weights, once known, cause exactly one more epoch.
  EXPECT_EQ(commits.back().round.id.epoch, commits.front().round.id.epoch + 1);
}

TEST(Participants, EqualExampleCountsChangeNothing) {
  Options options;
  options.policy.agents_min = 3;
  options.change_job = [](wire::JobT& job) { job.weighting = wire::Weighting::examples; };
  Federation federation(options);
  ASSERT_TRUE(federation.run_to_the_end()) << federation.describe();
  const auto& commits = federation.journal().commits();
  EXPECT_EQ(contributors(commits.back()).divisor, 3);
  EXPECT_EQ(commits.back().round.id.epoch, commits.front().round.id.epoch);
  federation.expect_conserved();
}

TEST(Participants, AFractionIsDrawnAnewForEachRound) {
  Options options;
  options.agents = 5;
  options.rounds = 20;
  options.policy.fraction = 0.4;
  options.policy.catch_up_wait_ms = 1'000;  // all agents connect before the first round
  Federation federation(options);
  ASSERT_TRUE(federation.run_to_the_end()) << federation.describe();
  federation.expect_identical();
  federation.expect_conserved();
  std::set<std::vector<std::uint8_t>> different;
  std::vector<std::uint8_t> all(1);
  for (const CommitRecord& commit : federation.journal().commits()) {
    if (commit.round.members != 5) continue;  // they connected one after another
    EXPECT_EQ(contributors(commit).contributors, 2u);
    different.insert(contributors(commit).bits);
    all[0] |= contributors(commit).bits[0];
  }
  EXPECT_GT(different.size(), 3u);
  EXPECT_EQ(all[0], 0x1f);
}

TEST(Participants, AFractionIsNeverLessThanTheLeast) {
  Options options;
  options.agents = 5;
  options.policy.fraction = 0.01;
  options.policy.agents_min = 3;
  Federation federation(options);
  ASSERT_TRUE(federation.run_to_the_end()) << federation.describe();
  for (const CommitRecord& commit : federation.journal().commits()) {
    EXPECT_EQ(contributors(commit).contributors, 3u);
  }
}

}  // namespace
}  // namespace tributary
