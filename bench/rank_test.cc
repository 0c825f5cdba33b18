// Tests of measuring one rank of a collective. The exchange is a function of the test.
#include "bench/rank.h"

#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>

namespace tributary::bench {
namespace {

// A rank alone, with 1,000 values.
RankSettings settings_of(std::uint32_t rounds, std::uint32_t warm_ups) {
  return {.rank = 0,
          .size = 1,
          .address = "127.0.0.1",
          .bytes = 4000,
          .rounds = rounds,
          .warm_ups = warm_ups};
}

// A federation of one rank: its update is the sum.
Exchange alone(int& reductions) {
  return {.barrier = [] { return Status(); },
          .all_reduce =
              [&reductions](FloatVector&) {
                ++reductions;
                return Status();
              }};
}

// Five reductions, of which three have a time.
TEST(Rank, WarmUpsAreRunAndNotCounted) {
  int reductions = 0;
  const Result<RankFigures> figures = measure_rank(settings_of(3, 2), alone(reductions));
  ASSERT_TRUE(figures.ok()) << figures.status().text();
  EXPECT_EQ(reductions, 5);
  EXPECT_EQ(figures->round_s.size(), 3u);
  ASSERT_EQ(figures->began_s.size(), 3u);
  EXPECT_GE(figures->began_s[1], figures->began_s[0] + figures->round_s[0]);
}

// At the first, a middle and the last element. A benchmark that does not check its result measures
// nothing.
TEST(Rank, WrongSumIsFoundWhereverItIs) {
  for (const std::size_t wrong : {0u, 500u, 999u}) {
    const Exchange exchange = {.barrier = [] { return Status(); },
                               .all_reduce =
                                   [wrong](FloatVector& update) {
                                     update[wrong] += 0.25F;
                                     return Status();
                                   }};
    const Result<RankFigures> figures = measure_rank(settings_of(1, 0), exchange);
    ASSERT_FALSE(figures.ok());
    EXPECT_EQ(figures.status().code(), StatusCode::mismatch);
    EXPECT_NE(figures.status().text().find("element " + std::to_string(wrong)), std::string::npos)
        << figures.status().text();
  }
}

// The sum of two ranks differs from the update of one.
TEST(Rank, UpdatesOfOtherRanksAreMissed) {
  int reductions = 0;
  RankSettings two = settings_of(1, 0);
  two.size = 2;
  EXPECT_FALSE(measure_rank(two, alone(reductions)).ok());
}

// Lossy sums have no exact expectation, but all ranks must have the same one.
TEST(Rank, LossySumsAreHashedInstead) {
  RankSettings settings = settings_of(2, 1);
  settings.exact = false;
  settings.size = 2;
  const auto sums_hash = [&](float factor) {
    const Exchange exchange = {.barrier = [] { return Status(); },
                               .all_reduce =
                                   [factor](FloatVector& update) {
                                     for (float& value : update) value *= factor;
                                     return Status();
                                   }};
    const Result<RankFigures> figures = measure_rank(settings, exchange);
    EXPECT_TRUE(figures.ok()) << figures.status().text();
    return figures->sums_hash;
  };
  EXPECT_EQ(sums_hash(2), sums_hash(2));
  EXPECT_NE(sums_hash(2), sums_hash(3));
}

// One infinity in the last element.
TEST(Rank, SumThatIsNoNumberIsFound) {
  RankSettings settings = settings_of(1, 0);
  settings.exact = false;
  const Exchange exchange = {.barrier = [] { return Status(); },
                             .all_reduce =
                                 [](FloatVector& update) {
                                   update.back() = std::numeric_limits<float>::infinity();
                                   return Status();
                                 }};
  EXPECT_EQ(measure_rank(settings, exchange).status().code(), StatusCode::not_finite);
}

// Without an interpretation: the program's exit code depends on it.
TEST(Rank, ErrorOfTheExchangeIsHandedOn) {
  const Exchange exchange = {
      .barrier = [] { return Status(StatusCode::deadline_exceeded, {.what = "a barrier"}); },
      .all_reduce = [](FloatVector&) { return Status(); }};
  EXPECT_EQ(measure_rank(settings_of(1, 0), exchange).status().code(),
            StatusCode::deadline_exceeded);
}

// The median of an even number of values is the mean of the two in the middle.
TEST(Rank, MedianOfEvenAndOddCounts) {
  EXPECT_EQ(median_of({}), 0);
  EXPECT_EQ(median_of({3, 1, 2}), 2);
  EXPECT_EQ(median_of({4, 1, 2, 3}), 2.5);
}

// 3 s of processor for 3 GB are 1 s per GB.
TEST(Rank, JsonIsOneObjectWithTheFigures) {
  const RankFigures figures = {.round_s = {0.5, 0.25, 0.75},
                               .began_s = {1, 2, 3},
                               .cpu_user_s = 1,
                               .cpu_system_s = 2,
                               .bytes_sent = 10,
                               .bytes_received = 11,
                               .sums_hash = 12};
  RankSettings settings = settings_of(3, 0);
  settings.bytes = 1'000'000'000;
  const auto json = nlohmann::json::parse(figures_json("gloo", "ring", settings, figures));
  const auto& data = json["data"];
  EXPECT_EQ(json["status"], "ok");
  EXPECT_EQ(data["round_s_median"], 0.5);
  EXPECT_EQ(data["round_s"].size(), 3u);
  EXPECT_EQ(data["began_s"][1], 2.0);
  EXPECT_EQ(data["cpu_s_per_gb"], 1.0);
  EXPECT_EQ(data["bytes_received"], 11);
  EXPECT_EQ(data["verified"], true);
  EXPECT_EQ(data["sums_hash"], "000000000000000c");
}

}  // namespace
}  // namespace tributary::bench
