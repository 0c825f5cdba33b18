// Tests of the closed formulas of the literature for the cost of collectives, with values computed
// by hand.
#include "core/cost/table_one.h"

#include <gtest/gtest.h>

#include <cmath>

namespace tributary::table_one {
namespace {

// 1 ms and 1 Gbit/s, 8 workers, 125 MB: one second on the link.
constexpr LinkEstimate kLink = {.alpha_s = 0.001, .beta_s_per_byte = 8e-9};
constexpr double kBytes = 125e6;

TEST(TableOne, MatchesValuesComputedByHand) {
  EXPECT_NEAR(star(8, kBytes, kLink), 14.002, 1e-9);
  EXPECT_NEAR(ring(8, kBytes, kLink), 1.764, 1e-9);
  EXPECT_NEAR(tree(8, kBytes, kLink), 6.006, 1e-9);
  EXPECT_NEAR(broadcast(8, kBytes, kLink), 3.003, 1e-9);
  EXPECT_NEAR(all_gather(8, kBytes, kLink), 7.003, 1e-9);
}

TEST(TableOne, ArTopKIsABroadcastAndAnAllReduce) {
  // Eqn. (4a): alpha (14 + 3) + M c beta (1.75 + 3); (4b): 9 alpha + 9 M c beta.
  EXPECT_NEAR(ar_top_k_ring(8, kBytes, kLink), 0.017 + 4.75, 1e-9);
  EXPECT_NEAR(ar_top_k_tree(8, kBytes, kLink), 0.009 + 9, 1e-9);
  EXPECT_NEAR(top_k_all_gather(8, kBytes, kLink), 0.003 + 14, 1e-9);
}

// Eqns. (5a) to (5c) as printed: the alpha/beta below which the first is cheaper than the second,
// for three or more workers.
double ring_over_tree_below(std::uint32_t n, double kept_bytes) {
  return (std::log2(n) - (n - 1.0) / n) / (n - 1.0 - std::log2(n)) * kept_bytes;
}
double ring_over_all_gather_below(std::uint32_t n, double kept_bytes) {
  return (1 - 1.0 / n - std::log2(n) / (2 * (n - 1.0))) * kept_bytes;
}
double tree_over_all_gather_below(std::uint32_t n, double kept_bytes) {
  return ((n - 1.0) / std::log2(n) - 1.5) * kept_bytes;
}

// The paper derives thresholds from its formulas: on each side of a threshold, another collective
// is cheaper.
TEST(TableOne, ThresholdsAreWhereTheCostsAreEqual) {
  constexpr double kKept = 1e6;
  for (const std::uint32_t n : {3u, 4u, 8u, 16u, 100u}) {
    for (const double beta : {8e-10, 8e-9, 8e-8}) {
      const auto at = [&](double alpha_over_beta, double factor) {
        return LinkEstimate{.alpha_s = alpha_over_beta * factor * beta, .beta_s_per_byte = beta};
      };
      const double ring_tree = ring_over_tree_below(n, kKept);
      EXPECT_LT(ar_top_k_ring(n, kKept, at(ring_tree, 0.99)),
                ar_top_k_tree(n, kKept, at(ring_tree, 0.99)));
      EXPECT_GT(ar_top_k_ring(n, kKept, at(ring_tree, 1.01)),
                ar_top_k_tree(n, kKept, at(ring_tree, 1.01)));
      const double tree_gather = tree_over_all_gather_below(n, kKept);
      if (tree_gather > 0) {
        EXPECT_LT(ar_top_k_tree(n, kKept, at(tree_gather, 0.99)),
                  top_k_all_gather(n, kKept, at(tree_gather, 0.99)));
        EXPECT_GT(ar_top_k_tree(n, kKept, at(tree_gather, 1.01)),
                  top_k_all_gather(n, kKept, at(tree_gather, 1.01)));
      }
      const double ring_gather = ring_over_all_gather_below(n, kKept);
      EXPECT_LT(ar_top_k_ring(n, kKept, at(ring_gather, 0.99)),
                top_k_all_gather(n, kKept, at(ring_gather, 0.99)));
      EXPECT_GT(ar_top_k_ring(n, kKept, at(ring_gather, 1.01)),
                top_k_all_gather(n, kKept, at(ring_gather, 1.01)));
    }
  }
}

}  // namespace
}  // namespace tributary::table_one
