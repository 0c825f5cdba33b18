// Tests of the optimal table of THC. The paper's enumeration of all tables is the reference where
// it can run.
#include "core/codec/thc/table/table.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "core/codec/thc/table/normal.h"

namespace tributary::thc {
namespace {

// The paper's algorithm: it tries every subset of the grid that has both ends and the right size.
class Enumeration {
 public:
  Enumeration(unsigned bits, const IntervalCosts& costs) : costs_(costs), size_(levels_of(bits)) {
    extend({0});
  }
  double least() const { return least_; }

 private:
  void extend(std::vector<std::uint16_t> levels) {
    const std::uint32_t left = size_ - static_cast<std::uint32_t>(levels.size());
    if (left == 1) {
      levels.push_back(static_cast<std::uint16_t>(costs_.granularity()));
      least_ = std::min(least_, rounding_mse(levels, costs_));
      return;
    }
    for (std::uint32_t next = levels.back() + 1u; next + left - 1 <= costs_.granularity(); ++next) {
      levels.push_back(static_cast<std::uint16_t>(next));
      extend(levels);
      levels.pop_back();
    }
  }

  const IntervalCosts& costs_;
  const std::uint32_t size_;
  double least_ = 1e9;
};

void expect_a_table(const LevelTable& table, unsigned bits, std::uint32_t granularity) {
  ASSERT_EQ(table.levels.size(), levels_of(bits));
  EXPECT_EQ(table.levels.front(), 0);
  EXPECT_EQ(table.levels.back(), granularity);
  EXPECT_EQ(std::ranges::adjacent_find(table.levels, std::greater_equal<>()), table.levels.end());
}

TEST(SolveTable, EqualsEnumerationWhereThatCanRun) {
  for (unsigned bits = 1; bits <= 3; ++bits) {
    for (std::uint32_t granularity = levels_of(bits) - 1; granularity <= 16; ++granularity) {
      for (const double p : {0.3, 1.0 / 32, 1.0 / 1024}) {
        const IntervalCosts costs(granularity, normal_threshold(p));
        const LevelTable table = solve_table(bits, costs);
        expect_a_table(table, bits, granularity);
        EXPECT_NEAR(table.rounding_mse, Enumeration(bits, costs).least(), 1e-14)
            << bits << " bits, g " << granularity << ", p " << p;
        EXPECT_NEAR(table.rounding_mse, rounding_mse(table.levels, costs), 1e-14);
      }
    }
  }
}

// A table from the code that the paper's authors published.
TEST(SolveTable, IsAsCheapAsThePublicCodesTable) {
  const std::vector<std::uint16_t> known = {0,  3,  5,  7,  9,  11, 13, 14,
                                            16, 17, 19, 21, 23, 25, 27, 30};
  const IntervalCosts costs(30, normal_threshold(1.0 / 32));
  EXPECT_LE(solve_table(4, costs).rounding_mse, rounding_mse(known, costs) + 1e-9);
}

// Four levels on seven steps: the best table is not symmetric, so the paper's restriction costs
// something.
TEST(SolveTable, NeedsNoSymmetry) {
  const IntervalCosts costs(7, normal_threshold(1.0 / 32));
  const LevelTable table = solve_table(2, costs);
  const std::vector<std::uint16_t> one = {0, 3, 5, 7};
  const std::vector<std::uint16_t> mirrored = {0, 2, 4, 7};
  EXPECT_TRUE(table.levels == one || table.levels == mirrored);
  EXPECT_LT(table.rounding_mse, rounding_mse({0, 3, 4, 7}, costs) - 1e-6);
  EXPECT_LT(table.rounding_mse, rounding_mse({0, 2, 5, 7}, costs) - 1e-6);
}

TEST(SolveTable, TakesEveryPointWhenThereIsNoChoice) {
  for (unsigned bits = 1; bits <= kBitsMax; ++bits) {
    const std::uint32_t granularity = levels_of(bits) - 1;
    std::vector<std::uint16_t> all(levels_of(bits));
    std::iota(all.begin(), all.end(), std::uint16_t{0});
    EXPECT_EQ(solve_table(bits, IntervalCosts(granularity, 3.0)).levels, all);
  }
}

// The reason for the speed: the number of intervals evaluated for 4,000 tables of all kinds.
TEST(SolveTable, LooksAtFewIntervals) {
  std::uint32_t solved = 0;
  for (unsigned bits = 1; bits <= 5; ++bits) {
    const std::uint32_t least = levels_of(bits) - 1;
    for (std::uint32_t granularity = least; granularity < least + 100; ++granularity) {
      for (int halvings = 1; halvings <= 8; ++halvings) {
        const IntervalCosts costs(granularity, normal_threshold(1.0 / (1 << halvings)));
        const LevelTable table = solve_table(bits, costs);
        expect_a_table(table, bits, granularity);
        const std::uint64_t rows = levels_of(bits) - 1;
        const std::uint64_t points = granularity + 1;
        EXPECT_LE(table.intervals_costed, rows * points * 10);
        ++solved;
      }
    }
  }
  EXPECT_EQ(solved, 4000u);
}

TEST(SolveTable, MoreLevelsAndFinerGridsNeverCostMore) {
  const double threshold = normal_threshold(1.0 / 64);
  double before = 100;
  for (unsigned bits = 1; bits <= 6; ++bits) {
    const double now = solve_table(bits, IntervalCosts(126, threshold)).rounding_mse;
    EXPECT_LT(now, before);
    before = now;
  }
  const double coarse = solve_table(4, IntervalCosts(30, threshold)).rounding_mse;
  EXPECT_LE(solve_table(4, IntervalCosts(60, threshold)).rounding_mse, coarse + 1e-15);
}

// Numerical integration by the midpoint rule.
TEST(TruncationMse, AgreesWithIntegration) {
  for (const double threshold : {0.5, 1.5, 2.15387469406, 3.0}) {
    double sum = 0;
    constexpr double kStep = 1e-4;
    for (double a = threshold + kStep / 2; a < 9; a += kStep) {
      sum += 2 * (a - threshold) * (a - threshold) * normal_density(a) * kStep;
    }
    EXPECT_NEAR(truncation_mse(threshold), sum, 1e-8) << threshold;
  }
}

}  // namespace
}  // namespace tributary::thc
