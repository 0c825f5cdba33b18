// Tests of dividing a data set among agents: every example is in exactly one shard, and the skew
// has the variance of the Dirichlet distribution.
#include "core/data/shards.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <numeric>

#include "core/base/random.h"

namespace tributary {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

using Shards = std::vector<std::vector<std::uint32_t>>;

std::vector<std::uint16_t> some_labels(std::uint32_t count, std::uint32_t classes) {
  const StreamKey key = stream_key({.job_seed = 9, .purpose = DrawPurpose::synthetic_data});
  std::vector<std::uint16_t> labels;
  for (std::uint32_t i = 0; i < count; ++i) {
    labels.push_back(static_cast<std::uint16_t>(random_bits(key, i) % classes));
  }
  return labels;
}

// Every example occurs exactly once.
void expect_partition(const Shards& shards, std::uint32_t count) {
  std::vector<std::uint32_t> all;
  for (const auto& shard : shards) {
    EXPECT_TRUE(std::ranges::is_sorted(shard));
    all.insert(all.end(), shard.begin(), shard.end());
  }
  std::ranges::sort(all);
  std::vector<std::uint32_t> expected(count);
  std::iota(expected.begin(), expected.end(), 0u);
  EXPECT_EQ(all, expected);
}

// The share of an agent's largest class, averaged over agents. It is 0.1 if ten classes are evenly
// distributed.
double purity(const Shards& shards, const std::vector<std::uint16_t>& labels) {
  double sum = 0;
  for (const auto& shard : shards) {
    std::vector<double> counts(10);
    for (const std::uint32_t i : shard) ++counts[labels[i]];
    sum += *std::ranges::max_element(counts) / static_cast<double>(shard.size());
  }
  return sum / static_cast<double>(shards.size());
}

TEST(Shards, EveryExampleIsInExactlyOne) {
  for (const std::uint32_t count : {0u, 1u, 7u, 1000u}) {
    for (const std::uint32_t agents : {1u, 3u, 10u}) {
      for (const double alpha : {0.0, 0.001, 0.3, 1e6}) {
        if (count == 0 && alpha > 0) continue;
        const auto labels = some_labels(count, 10);
        const auto shards =
            make_shards({.agents = agents, .dirichlet_alpha = alpha}, count, labels, 10);
        ASSERT_TRUE(shards.ok()) << shards.status().text();
        ASSERT_EQ(shards->size(), agents);
        expect_partition(*shards, count);
        if (count >= agents) {
          for (const auto& shard : *shards) EXPECT_THAT(shard, testing::Not(IsEmpty()));
        }
      }
    }
  }
}

TEST(Shards, EqualPartsDifferByOneAtMost) {
  const auto shards = make_shards({.agents = 7}, 1000, {}, 0);
  ASSERT_TRUE(shards.ok());
  for (const auto& shard : *shards) {
    EXPECT_GE(shard.size(), 142u);
    EXPECT_LE(shard.size(), 143u);
  }
}

TEST(Shards, SmallerAlphaMeansMoreSkew) {
  const auto labels = some_labels(20'000, 10);
  std::vector<double> found;
  for (const double alpha : {0.0, 100.0, 1.0, 0.1, 0.01}) {
    const auto shards = make_shards({.agents = 10, .dirichlet_alpha = alpha}, 20'000, labels, 10);
    ASSERT_TRUE(shards.ok());
    found.push_back(purity(*shards, labels));
  }
  EXPECT_LT(found[0], 0.13);
  EXPECT_LT(found[1], 0.17);
  EXPECT_TRUE(std::ranges::is_sorted(found)) << testing::PrintToString(found);
  EXPECT_GT(found[4], 0.6);
}

// The variance of one share of Dirichlet(alpha) among n is (n - 1) / (n^2 (n alpha + 1)).
TEST(Shards, PartsHaveTheVarianceOfDirichlet) {
  constexpr std::uint32_t kClasses = 400;
  constexpr std::uint32_t kEach = 500;
  constexpr double kAgents = 5;
  std::vector<std::uint16_t> labels;
  for (std::uint32_t i = 0; i < kClasses * kEach; ++i) {
    labels.push_back(static_cast<std::uint16_t>(i % kClasses));
  }
  for (const double alpha : {0.1, 0.5, 2.0}) {
    const auto shards =
        make_shards({.agents = 5, .dirichlet_alpha = alpha}, kClasses * kEach, labels, kClasses);
    ASSERT_TRUE(shards.ok());
    double squares = 0;
    for (const auto& shard : *shards) {
      std::vector<double> counts(kClasses);
      for (const std::uint32_t i : shard) ++counts[labels[i]];
      for (const double count : counts) {
        squares += (count / kEach - 1 / kAgents) * (count / kEach - 1 / kAgents);
      }
    }
    const double variance = squares / (kAgents * kClasses);
    const double expected = (kAgents - 1) / (kAgents * kAgents * (kAgents * alpha + 1));
    EXPECT_NEAR(variance / expected, 1, 0.12) << alpha;
  }
}

TEST(Shards, DependOnTheSeed) {
  const auto labels = some_labels(100, 10);
  for (const double alpha : {0.0, 0.5}) {
    const ShardOptions options{.seed = 1, .agents = 4, .dirichlet_alpha = alpha};
    const auto one = make_shards(options, 100, labels, 10);
    const auto again = make_shards(options, 100, labels, 10);
    const auto other =
        make_shards({.seed = 2, .agents = 4, .dirichlet_alpha = alpha}, 100, labels, 10);
    EXPECT_EQ(*one, *again);
    EXPECT_NE(*one, *other);
  }
}

// The shards are the same on every machine and in every version, so the hash is a constant.
TEST(Shards, StayAsTheyWere) {
  const auto labels = some_labels(16, 4);
  const auto even = make_shards({.seed = 5, .agents = 4}, 16, {}, 0);
  EXPECT_THAT(even->at(0), ElementsAre(2, 5, 8, 15));
  const auto skewed = make_shards({.seed = 5, .agents = 3, .dirichlet_alpha = 0.3}, 16, labels, 4);
  EXPECT_THAT(*skewed, ElementsAre(ElementsAre(1, 2, 4, 7, 9, 11, 14), ElementsAre(0, 10, 13),
                                   ElementsAre(3, 5, 6, 8, 12, 15)));
}

TEST(Shards, ErrorsNameTheRequirement) {
  EXPECT_FALSE(make_shards({.agents = 0}, 10, {}, 0).ok());
  EXPECT_FALSE(make_shards({.agents = kAgentsMax + 1}, 10, {}, 0).ok());
  EXPECT_FALSE(make_shards({.dirichlet_alpha = -1}, 1, some_labels(1, 2), 2).ok());
  EXPECT_THAT(make_shards({.dirichlet_alpha = 0.5}, 10, {}, 0).status().text(),
              HasSubstr("data without classes"));
  EXPECT_FALSE(make_shards({.dirichlet_alpha = 0.5}, 10, some_labels(10, 10), 3).ok());
}

TEST(Holdout, SetsItsShareAside) {
  std::vector<std::uint32_t> examples(101);
  std::iota(examples.begin(), examples.end(), 1000u);
  const auto split = split_holdout(examples, 0.2, 3, 1);
  ASSERT_TRUE(split.ok());
  EXPECT_EQ(split->holdout.size(), 20u);
  std::vector<std::uint32_t> both;
  std::ranges::merge(split->train, split->holdout, std::back_inserter(both));
  EXPECT_EQ(both, examples);
  EXPECT_EQ(split_holdout(examples, 0.2, 3, 1)->holdout, split->holdout);
  EXPECT_NE(split_holdout(examples, 0.2, 3, 2)->holdout, split->holdout);
  EXPECT_THAT(split_holdout(examples, 0, 3, 1)->holdout, IsEmpty());
  EXPECT_FALSE(split_holdout(examples, 1, 3, 1).ok());
}

}  // namespace
}  // namespace tributary
