// Tests of the search for the Pareto set: no element dominates another one, and no choice of a grid
// dominates the set.
#include "core/plan/search/search.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "core/plan/inputs/inputs_testing.h"

namespace tributary {
namespace {

using plan_testing::federation;

std::vector<PlanOption> found(const PlanInputs& inputs, std::uint32_t generations) {
  return pareto_set(inputs, PlanPredictor(inputs), {.generations = generations});
}

// No element of the set dominates another one, and the set is sorted.
TEST(ParetoSet, HoldsNoneThatAnotherBeats) {
  const std::vector<PlanOption> set = found(federation(100, 10), 20);
  ASSERT_FALSE(set.empty());
  for (const PlanOption& one : set) {
    for (const PlanOption& other : set) {
      EXPECT_FALSE(dominates(one.cost, other.cost))
          << one.choice.codec << " beats " << other.choice.codec;
    }
  }
  EXPECT_TRUE(std::ranges::is_sorted(
      set, {}, [](const PlanOption& option) { return option.cost.exchange_s; }));
}

// Every choice by hand is in the set, or an option in the set dominates it.
TEST(ParetoSet, NothingThatCouldBeChosenByHandBeatsAllOfIt) {
  for (const double mbit : {1.0, 50.0, 2000.0}) {
    const PlanInputs inputs = federation(mbit, 5);
    const PlanPredictor predictor(inputs);
    const std::vector<PlanOption> set = found(inputs, 20);
    for (const PlanCodec& codec : inputs.codecs) {
      for (const wire::Collective kind : kCollectives) {
        for (const double ratio : {0.001, 0.01, 0.1}) {
          const PlanCost cost = predictor.cost(codec, kind, ratio, 1u << 16);
          EXPECT_TRUE(std::ranges::any_of(set,
                                          [&](const PlanOption& option) {
                                            const PlanCost& own = option.cost;
                                            return own.exchange_s <= cost.exchange_s * 1.001 &&
                                                   own.gain >= cost.gain * 0.95;
                                          }))
              << codec.spec << " by " << wire::EnumNameCollective(kind) << " at " << ratio << ", "
              << mbit << " Mbit/s";
        }
      }
    }
  }
}

// The limits of a job hold for the grid and for what is found between its points. No choice of the
// federation by hand is outside them.
TEST(ParetoSet, HoldsOnlyWhatTheJobAllows) {
  PlanInputs inputs = federation(5, 20);
  inputs.policy.codecs = {"fp16", "topk"};
  inputs.policy.collectives = {wire::Collective::ring, wire::Collective::in_network};
  const std::vector<PlanOption> set = found(inputs, 20);
  ASSERT_FALSE(set.empty());
  const auto named = [&](std::string_view codec) {
    return std::ranges::any_of(set, [&](const PlanOption& option) {
      return option.choice.codec.substr(0, codec.size()) == codec;
    });
  };
  EXPECT_TRUE(named("fp16") && named("topk"));
  for (const PlanOption& option : set) {
    EXPECT_EQ(option.choice.collective, wire::Collective::ring);
    EXPECT_TRUE(option.choice.codec == "fp16" || option.choice.codec.substr(0, 5) == "topk:")
        << option.choice.codec;
  }
  EXPECT_EQ(shortlist(inputs, PlanPredictor(inputs), {}).front().choice.collective,
            wire::Collective::ring);
}

// The agents cannot use what is allowed, so rounds go by the star until they can.
TEST(ParetoSet, TheStarStandsInForCollectivesThatAreImpossible) {
  PlanInputs inputs = federation(5, 20);
  inputs.policy.collectives = {wire::Collective::ring, wire::Collective::in_network};
  inputs.peers_reachable = false;
  for (const PlanOption& option : found(inputs, 0)) {
    EXPECT_EQ(option.choice.collective, wire::Collective::star);
  }
  inputs.aggregator_present = true;
  for (const PlanOption& option : found(inputs, 0)) {
    EXPECT_EQ(option.choice.collective, wire::Collective::in_network);
  }
}

// Each bucket's result is one segment. The first agent uploads one of two buckets, or two of eight,
// which are fewer bytes. Small buckets cost messages, so they are the fastest only where its uplink
// is slow.
TEST(Shortlist, HasTheBucketSizesThatAreTheFastestInOneOfTheWorlds) {
  PlanInputs inputs = federation(10, 1, 4, 30'000);
  inputs.settled = inputs.trains_ahead = true;
  inputs.message_s = 0.005;
  inputs.policy.codecs = {"threelc:s=1"};
  inputs.policy.collectives = {wire::Collective::ring};
  const PlanWorld stated = PlanPredictor(inputs).worlds().front();
  PlanWorld slow = stated;
  slow.links.front().rate.up *= 1000;
  slow.summarize();
  inputs.worlds.assign(8, stated);
  inputs.worlds.back() = slow;
  const PlanPredictor predictor(inputs);
  std::set<std::uint64_t> sizes;
  for (const PlanOption& option : shortlist(inputs, predictor)) {
    sizes.insert(option.choice.bucket_values);
  }
  EXPECT_EQ(sizes, (std::set<std::uint64_t>{4'096, 16'384}));
}

// NSGA-II adds options between the grid points.
TEST(ParetoSet, FindsMoreBetweenTheGridsRatios) {
  const PlanInputs inputs = federation(20, 25);
  const std::vector<PlanOption> grid = found(inputs, 0);
  const std::vector<PlanOption> refined = found(inputs, 20);
  EXPECT_GT(refined.size(), grid.size());
  // A refined set has the grid's options or better ones.
  for (const PlanOption& option : refined) {
    EXPECT_TRUE(std::ranges::none_of(
        grid, [&](const PlanOption& other) { return dominates(other.cost, option.cost); }));
  }
}

// All random draws are seeded.
TEST(ParetoSet, IsTheSameForTheSameInputs) {
  const PlanInputs inputs = federation(20, 25);
  EXPECT_EQ(found(inputs, 20), found(inputs, 20));
}

// Without reachable peers only the star is possible.
TEST(ParetoSet, AloneOrWithoutAWayToPeersThereIsTheStar) {
  PlanInputs alone = federation(100, 1, 1);
  PlanInputs unreachable = federation(100, 1);
  unreachable.peers_reachable = false;
  for (const PlanInputs& inputs : {alone, unreachable}) {
    const std::vector<PlanOption> set = found(inputs, 20);
    ASSERT_FALSE(set.empty());
    for (const PlanOption& option : set) {
      EXPECT_EQ(option.choice.collective, wire::Collective::star);
    }
  }
}

// A fine grid gives more options than kParetoMax.
TEST(ParetoSet, IsBounded) {
  PlanInputs inputs = federation(20, 25);
  const std::vector<PlanOption> set =
      pareto_set(inputs, PlanPredictor(inputs), {.ratios = 500, .generations = 0});
  EXPECT_LE(set.size(), kParetoMax);
  EXPECT_GT(set.size(), kParetoMax / 2);
}

// A bucket is never larger than the model.
TEST(ParetoSet, HasBucketsOfOneForAModelOfOneValue) {
  for (const PlanOption& option : found(federation(100, 1, 4, 1), 4)) {
    EXPECT_EQ(option.choice.bucket_values, 1u);
  }
}

}  // namespace
}  // namespace tributary
