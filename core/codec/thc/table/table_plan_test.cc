// Tests of the choice of granularity and clamping for THC: nothing that fits has a smaller expected
// error.
#include "core/codec/thc/table/table_plan.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/codec/thc/table/normal.h"
#include "core/codec/thc/table/table.h"

namespace tributary::thc {
namespace {

TablePlan planned(const TableRequest& request) {
  Result<TablePlan> plan = plan_table(request);
  EXPECT_TRUE(plan.ok()) << plan.status().text();
  return plan.ok() ? std::move(*plan) : TablePlan();
}

TEST(PlanTable, UsesGivenParameters) {
  const TablePlan plan = planned({.bits = 4, .granularity = 30, .p = 1.0 / 32, .agents = 4});
  EXPECT_EQ(plan.granularity, 30u);
  EXPECT_EQ(plan.p, 1.0 / 32);
  EXPECT_NEAR(plan.threshold, 2.15387469406, 1e-11);
  EXPECT_NEAR(plan.rounding_mse, 0.0130625, 1e-6);
  EXPECT_NEAR(plan.truncation_mse, 0.0072673, 1e-6);
  EXPECT_EQ(plan.expected_nmse, plan.truncation_mse + plan.rounding_mse / 4);
  EXPECT_EQ(plan.sum_bits, 7u);  // 4 · 30 = 120
}

TEST(PlanTable, ChoosesForAgentsAndWidth) {
  const TablePlan four = planned({.bits = 4, .agents = 4, .down_bits = 8});
  EXPECT_EQ(four.granularity, 63u);
  EXPECT_EQ(four.p, 1.0 / 256);
  EXPECT_NEAR(four.expected_nmse, 0.0052, 0.00005);
  EXPECT_EQ(four.sum_bits, 8u);
  EXPECT_NEAR(planned({.bits = 4, .agents = 10}).expected_nmse, 0.0022, 0.00005);
  EXPECT_NEAR(planned({.bits = 4, .agents = 64}).expected_nmse, 0.0004, 0.00005);
}

// Compares the choice with every granularity and every p.
TEST(PlanTable, NothingThatFitsIsBetter) {
  for (const TableRequest& request : {TableRequest{.bits = 2, .agents = 3, .down_bits = 6},
                                      TableRequest{.bits = 3, .agents = 5, .down_bits = 7},
                                      TableRequest{.bits = 4, .agents = 10, .down_bits = 8}}) {
    const TablePlan chosen = planned(request);
    const std::uint32_t largest = ((1u << request.down_bits) - 1) / request.agents;
    for (std::uint32_t granularity = levels_of(request.bits) - 1; granularity <= largest;
         ++granularity) {
      for (int halvings = 1; halvings <= 24; ++halvings) {
        TableRequest given = request;
        given.granularity = granularity;
        given.p = std::ldexp(1.0, -halvings);
        EXPECT_GE(planned(given).expected_nmse, chosen.expected_nmse * (1 - 1e-6))
            << request.bits << " bits, g " << granularity << ", p 2^-" << halvings;
      }
    }
  }
}

TEST(PlanTable, SumsAreAsWideAsTheyMustBe) {
  for (const std::uint32_t agents : {1u, 2u, 4u, 10u, 63u, 64u, 1000u, 1u << 20}) {
    for (const unsigned bits : {1u, 4u, 5u}) {
      const TablePlan plan = planned({.bits = bits, .agents = agents});
      const std::uint64_t most = std::uint64_t{plan.granularity} * agents;
      EXPECT_EQ(plan.sum_bits, static_cast<unsigned>(std::ceil(std::log2(most + 1))));
    }
  }
}

// Without this limit, 64 agents with 1 bit would each lose 2.6 times their input.
TEST(PlanTable, ErrorFeedbackConvergesWithTheChosenTable) {
  for (const unsigned bits : {1u, 2u, 3u, 4u}) {
    for (const std::uint32_t agents : {1u, 4u, 64u, 1000u, 1u << 20}) {
      EXPECT_LT(own_error(planned({.bits = bits, .agents = agents})), 0.9) << bits << " " << agents;
    }
  }
}

// Two levels are the ends of any grid, so the coarsest grid gives the narrowest sums.
TEST(PlanTable, TiesGoToTheSmallerGranularity) {
  EXPECT_EQ(planned({.bits = 1, .agents = 4}).granularity, 1u);
}

// Uniform levels need no look-up, but have a larger error.
TEST(PlanTable, UniformLevelsAreTheGridItself) {
  const TablePlan plan = planned({.bits = 4, .agents = 4, .uniform = true});
  EXPECT_EQ(plan.granularity, 15u);
  EXPECT_EQ(plan.levels[7], 7);
  EXPECT_GT(plan.expected_nmse, planned({.bits = 4, .agents = 4}).expected_nmse);
}

// Every agent plans for itself, so the choice must not change between machines or releases.
TEST(PlanTable, ChoicesAreTheseEverywhere) {
  const TablePlan four = planned({.bits = 4, .agents = 4});
  EXPECT_EQ(four.levels, (std::vector<std::uint16_t>{0, 8, 13, 17, 21, 24, 27, 30, 33, 36, 39, 42,
                                                     46, 50, 55, 63}));
  EXPECT_EQ(four.threshold, 0x1.715c7c1c88ccbp+1);
  const TablePlan ten = planned({.bits = 3, .agents = 10});
  EXPECT_EQ(ten.granularity, 38u);
  EXPECT_EQ(ten.levels, (std::vector<std::uint16_t>{0, 8, 13, 17, 21, 25, 30, 38}));
}

TEST(PlanTable, RefusesImpossibleParameters) {
  const auto code = [](const TableRequest& request) { return plan_table(request).status().code(); };
  EXPECT_EQ(code({.bits = 0}), StatusCode::invalid_argument);
  EXPECT_EQ(code({.bits = 9}), StatusCode::invalid_argument);
  EXPECT_EQ(code({.bits = 4, .granularity = 14}), StatusCode::invalid_argument);
  EXPECT_EQ(code({.bits = 4, .granularity = 1024}), StatusCode::invalid_argument);
  EXPECT_EQ(code({.bits = 4, .granularity = 30, .uniform = true}), StatusCode::invalid_argument);
  EXPECT_EQ(code({.bits = 4, .p = 0.6}), StatusCode::invalid_argument);
  EXPECT_EQ(code({.bits = 4, .p = 1e-13}), StatusCode::invalid_argument);
  EXPECT_EQ(code({.bits = 4, .agents = 0}), StatusCode::invalid_argument);
  EXPECT_EQ(code({.bits = 4, .down_bits = 33}), StatusCode::invalid_argument);
  EXPECT_EQ(code({.bits = 4, .agents = 18, .down_bits = 8}), StatusCode::resource_exhausted);
  EXPECT_EQ(code({.bits = 4, .granularity = 64, .agents = 4, .down_bits = 8}),
            StatusCode::resource_exhausted);
}

}  // namespace
}  // namespace tributary::thc
