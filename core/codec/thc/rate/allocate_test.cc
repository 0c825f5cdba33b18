// Tests of the division of bits among blocks. An exhaustive search is the reference for small
// cases.
#include "core/codec/thc/rate/allocate.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>

#include "core/base/random.h"
#include "core/codec/thc/table/table.h"

namespace tributary::thc {
namespace {

constexpr float kNormMin = 0x1p-100f;

std::vector<Width> widths_of(std::uint32_t agents, double down_weight) {
  const auto widths = widths_for(agents, down_weight);
  EXPECT_TRUE(widths.ok()) << widths.status().text();
  return widths.ok() ? *widths : std::vector<Width>{Width{}};
}

struct Outcome {
  double error = 0;
  double cost = 0;
  std::uint64_t bits = 0;
};

Outcome outcome_of(std::span<const float> norms, std::span<const std::uint32_t> sizes,
                   std::span<const Width> widths, double down_weight,
                   std::span<const std::uint8_t> chosen) {
  Outcome out;
  for (std::size_t i = 0; i < norms.size(); ++i) {
    const Width& width = widths[chosen[i]];
    const double norm = norms[i];
    out.error += norm * norm * width.error * sizes[i];
    out.cost += width.cost(down_weight) * sizes[i];
    out.bits += std::uint64_t{width.bits} * sizes[i];
  }
  return out;
}

// The least error of all divisions whose cost is not above `cost`, by trying all.
double least_error(std::span<const float> norms, std::span<const std::uint32_t> sizes,
                   std::span<const Width> widths, double down_weight, double cost) {
  std::vector<std::uint8_t> chosen(norms.size(), 0);
  double least = std::numeric_limits<double>::infinity();
  while (true) {
    const Outcome one = outcome_of(norms, sizes, widths, down_weight, chosen);
    if (one.cost <= cost * (1 + 1e-12)) least = std::min(least, one.error);
    std::size_t i = 0;
    while (i < chosen.size() && ++chosen[i] == widths.size()) chosen[i++] = 0;
    if (i == chosen.size()) return least;
  }
}

float drawn(std::uint32_t seed, std::uint32_t element) {
  const std::uint32_t bits = random_bits({seed, 9}, element);
  return std::ldexp(static_cast<float>(bits % 1000 + 1), static_cast<int>(bits >> 28) - 12);
}

TEST(RateAllocation, HasTheLeastErrorOfAllDivisionsOfItsCost) {
  constexpr std::array<std::uint32_t, 4> kBlockSizes = {256, 256, 256, 64};
  for (const double weight : {0.0, 1.0, 4.0}) {
    const std::vector<Width> widths = widths_of(4, weight);
    for (std::uint32_t seed = 0; seed < 8; ++seed) {
      std::array<float, 4> norms;
      for (std::uint32_t i = 0; i < norms.size(); ++i) norms[i] = drawn(seed, i);
      if (seed % 4 == 0) norms[1] = norms[2] = norms[0];
      for (const double rate : {0.5, 1.0, 2.25, 4.0, 7.0}) {
        const auto chosen = allocate(norms, kBlockSizes, widths, weight, rate, kNormMin);
        const Outcome got = outcome_of(norms, kBlockSizes, widths, weight, chosen);
        EXPECT_LE(got.bits, std::max<std::uint64_t>(256, static_cast<std::uint64_t>(rate * 832)));
        EXPECT_LE(got.error,
                  least_error(norms, kBlockSizes, widths, weight, got.cost) * (1 + 1e-12))
            << "seed " << seed << ", rate " << rate << ", weight " << weight;
      }
    }
  }
}

// The definition: one step after the other, each the greatest that is left.
std::vector<std::uint8_t> walked(std::span<const float> norms, std::span<const std::uint32_t> sizes,
                                 std::span<const Width> widths, double rate) {
  std::vector<std::uint8_t> chosen(norms.size(), 0);
  std::uint64_t values = 0;
  for (const std::uint32_t size : sizes) values += size;
  std::uint64_t used = 0;
  while (true) {
    std::size_t best = norms.size();
    double most = -1;
    // The lower step comes first if gains are equal, and then the lower block.
    for (std::size_t i = 0; i < norms.size(); ++i) {
      if (chosen[i] + 1u == widths.size() || !(norms[i] >= kNormMin)) continue;
      const Width& before = widths[chosen[i]];
      const Width& after = widths[chosen[i] + 1u];
      const double norm = norms[i];
      const double gain =
          norm * norm * ((before.error - after.error) / (after.cost(1) - before.cost(1)));
      if (gain < most || (gain == most && chosen[i] >= chosen[best])) continue;
      best = i;
      most = gain;
    }
    if (best == norms.size()) return chosen;
    const unsigned step = widths[chosen[best] + 1u].bits - widths[chosen[best]].bits;
    const std::uint64_t bits = std::uint64_t{step} * sizes[best];
    if (used > 0 && used + bits > static_cast<std::uint64_t>(rate * static_cast<double>(values))) {
      return chosen;
    }
    used += bits;
    ++chosen[best];
  }
}

// Many blocks have equal norms, and sizes differ, so that the walk ends within ties.
TEST(RateAllocation, IsThatOfTheWalkStepByStep) {
  const std::vector<Width> widths = widths_of(4, 1);
  for (std::uint32_t seed = 0; seed < 6; ++seed) {
    std::vector<float> norms(90);
    std::vector<std::uint32_t> sizes(norms.size());
    for (std::uint32_t i = 0; i < norms.size(); ++i) {
      norms[i] = seed % 2 == 0 ? drawn(seed, i) : drawn(seed, i % 5);
      sizes[i] = 64u << random_bits({seed, 11}, i) % 5;
    }
    for (double rate = 0.25; rate <= 8; rate += 0.31) {
      ASSERT_EQ(allocate(norms, sizes, widths, 1, rate, kNormMin),
                walked(norms, sizes, widths, rate))
          << "seed " << seed << ", rate " << rate;
    }
  }
}

// No step of any block would still fit, except for those of no more than the walk's next one.
TEST(RateAllocation, UsesItsRate) {
  const std::vector<Width> widths = widths_of(4, 1);
  std::vector<float> norms(1000);
  for (std::uint32_t i = 0; i < norms.size(); ++i) norms[i] = drawn(77, i);
  const std::vector<std::uint32_t> sizes(norms.size(), 1024);
  for (double rate = 0.25; rate < 8; rate += 0.5) {
    const auto chosen = allocate(norms, sizes, widths, 1, rate, kNormMin);
    const Outcome got = outcome_of(norms, sizes, widths, 1, chosen);
    EXPECT_NEAR(static_cast<double>(got.bits) / 1024e3, rate, 0.003);
  }
  const auto all = allocate(norms, sizes, widths, 1, 8, kNormMin);
  EXPECT_EQ(outcome_of(norms, sizes, widths, 1, all).bits, 8u * 1024 * 1000);
}

TEST(RateAllocation, IsBoundedForHostileNorms) {
  const std::vector<Width> widths = widths_of(4, 1);
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  constexpr float kInf = std::numeric_limits<float>::infinity();
  const std::vector<std::uint32_t> sizes(4, 64);
  const auto of = [&](std::array<float, 4> norms, double rate) {
    return allocate(norms, sizes, widths, 1, rate, kNormMin);
  };
  using Chosen = std::vector<std::uint8_t>;
  EXPECT_EQ(of({0, 0, 0, 0}, 8), Chosen(4, 0));
  EXPECT_EQ(of({0x1p-101f, kNan, -1, -kInf}, 8), Chosen(4, 0));
  EXPECT_EQ(allocate({}, {}, widths, 1, 2, kNormMin), Chosen());
  // One huge block takes all that it can use, and the others share the rest.
  const auto most = static_cast<std::uint8_t>(widths.size() - 1);
  for (const float huge : {3e38f, kInf}) {
    EXPECT_EQ(of({1, huge, 1, 1}, 2), (Chosen{0, most, 0, 0}));
    const Chosen shared = of({1, huge, 1, 1}, 4);
    EXPECT_EQ(shared[1], most);
    EXPECT_GT(shared[0], 0);
  }
}

// With a rate below one block's bits, the largest block is sent all the same.
TEST(RateAllocation, TheLargestBlockIsAlwaysSent) {
  const std::vector<Width> widths = widths_of(4, 1);
  const std::array<float, 2> norms = {1, 2};
  const std::array<std::uint32_t, 2> sizes = {64, 4096};
  EXPECT_EQ(allocate(norms, sizes, widths, 1, 0.25, kNormMin), (std::vector<std::uint8_t>{0, 1}));
}

TEST(RateWidths, AreConvexAndEveryWidthContracts) {
  for (const std::uint32_t agents : {1u, 4u, 1000u}) {
    for (const double weight : {0.0, 1.0}) {
      const std::vector<Width> widths = widths_of(agents, weight);
      ASSERT_GE(widths.size(), 4u);
      EXPECT_EQ(widths.front().bits, 0u);
      EXPECT_EQ(widths.back().bits, 8u);
      double before = std::numeric_limits<double>::infinity();
      for (std::size_t i = 1; i < widths.size(); ++i) {
        EXPECT_GE(widths[i].bits, widths[i - 1].bits);
        const double cost = widths[i].cost(weight) - widths[i - 1].cost(weight);
        const double slope = (widths[i - 1].error - widths[i].error) / cost;
        EXPECT_GT(cost, 0);
        EXPECT_GT(slope, 0);
        EXPECT_LT(slope, before);
        before = slope;
        const auto plan = plan_table(widths[i].table);
        ASSERT_TRUE(plan.ok());
        EXPECT_EQ(plan->sum_bits, widths[i].sum_bits);
        EXPECT_DOUBLE_EQ(plan->expected_nmse, widths[i].error);
        EXPECT_LE(own_error(*plan), 0.9) << agents << " agents, " << widths[i].bits << " bits";
      }
    }
  }
}

// The more the downlink counts, the coarser the grids.
TEST(RateWidths, ADearDownlinkTakesNarrowerSums) {
  const auto bits_down = [](double weight) {
    for (const Width& width : widths_of(4, weight)) {
      if (width.bits == 4) return width.sum_bits;
    }
    return 0u;
  };
  EXPECT_GT(bits_down(0), bits_down(4));
}

// Pins the bits of a choice, which must be the same on all machines.
TEST(RateWidths, DoNotChangeForFourAgents) {
  std::string text;
  for (const Width& width : widths_of(4, 1)) {
    text += std::to_string(width.bits) + "/" + std::to_string(width.sum_bits) + "/" +
            std::to_string(width.table.granularity) + " ";
  }
  EXPECT_EQ(text, "0/0/0 1/3/1 2/4/3 3/5/7 4/6/15 6/8/63 6/9/124 8/10/255 8/11/508 8/12/1023 ");
}

}  // namespace
}  // namespace tributary::thc
