// Tests of the links between agents, as the agents report them.
#include "coordinator/links/pair_figures.h"

#include <gtest/gtest.h>

#include <cmath>

namespace tributary {
namespace {

wire::LinkSampleT sample(const std::string& from, double alpha_s, double beta_s_per_byte,
                         float confidence = 0.5f, std::uint32_t age_ms = 0) {
  wire::LinkSampleT link;
  link.from = from;
  link.alpha_s = alpha_s;
  link.beta_s_per_byte = beta_s_per_byte;
  link.confidence = confidence;
  link.age_ms = age_ms;
  return link;
}

TEST(PairFigures, KeepsTheLastWordOfEachFigure) {
  PairFigures pairs;
  EXPECT_EQ(
      pairs
          .take(10, {.agent_id = "b",
                     .links = {sample("a", 0.01, 0, 0.5f, 2000), sample("a", 0, 1e-6, 0.75f)}})
          .size(),
      2u);
  pairs.take(20, {.agent_id = "b", .links = {sample("a", 0, 2e-6, 0.25f)}});
  const MeasuredLink link = pairs.measured("a", "b", 20);
  EXPECT_EQ(link.alpha_s.value, 0.01);
  EXPECT_NEAR(link.alpha_s.age_s, 12, 1e-9) << "as old as it was, and older";
  EXPECT_LT(link.alpha_s.confidence, 0.5);
  EXPECT_GT(link.alpha_s.confidence, 0.49);
  EXPECT_EQ(link.beta_s_per_byte.value, 2e-6);
  EXPECT_EQ(link.beta_s_per_byte.confidence, 0.25);
  EXPECT_FALSE(pairs.measured("b", "a", 20).alpha_s.known()) << "the way back is another";
}

// Samples with neither or both quantities, or out of bounds, are invalid.
TEST(PairFigures, ImpossibleReadingsAreCountedAndDropped) {
  PairFigures pairs;
  const double nan = std::nan("");
  const LinksReported reported{
      .agent_id = "b",
      .links = {sample("a", 0, 0), sample("a", 0.1, 1e-6), sample("a", nan, 0), sample("a", -1, 0),
                sample("a", 1e9, 0), sample("a", 0, 10), sample("a", 0.1, 0, 2.0f),
                sample("a", 0.1, 0, -1.0f)}};
  EXPECT_TRUE(pairs.take(1, reported).empty());
  EXPECT_EQ(pairs.ignored(), reported.links.size());
  EXPECT_EQ(pairs.size(), 0u);
}

TEST(PairFigures, TheSlowestComeFirst) {
  PairFigures pairs;
  pairs.take(1, {.agent_id = "c", .links = {sample("a", 0, 1e-8), sample("b", 0, 1e-6)}});
  pairs.take(1, {.agent_id = "d", .links = {sample("a", 0.1, 0)}});
  const auto all = pairs.slowest(1, 10);
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[0].from, "b");
  EXPECT_EQ(all[1].from, "a");
  EXPECT_EQ(all[2].to, "d");
  EXPECT_EQ(pairs.slowest(1, 1).size(), 1u);
}

// A new link replaces the one with the oldest report.
TEST(PairFigures, HoldsSoMany) {
  PairFigures pairs(3);
  for (int i = 0; i < 10; ++i) {
    pairs.take(i, {.agent_id = "x", .links = {sample(std::to_string(i), 0.1, 0)}});
  }
  EXPECT_EQ(pairs.size(), 3u);
  EXPECT_TRUE(pairs.measured("9", "x", 10).alpha_s.known());
  EXPECT_FALSE(pairs.measured("6", "x", 10).alpha_s.known());
}

}  // namespace
}  // namespace tributary
