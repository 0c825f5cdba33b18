// Tests of the order of examples, which follows from the position alone, so that training continues
// after a restart.
#include "core/train/batch_order.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

namespace tributary {
namespace {

std::vector<std::uint32_t> taken(BatchOrder& order, std::uint64_t first, std::uint32_t batch) {
  std::vector<std::uint32_t> indices;
  order.indices(first, batch, indices);
  return indices;
}

TEST(BatchOrder, EveryPassSeesEveryExampleOnceInAnOrderOfItsOwn) {
  BatchOrder order(1, "agent", 100);
  std::vector<std::uint32_t> all(100);
  std::iota(all.begin(), all.end(), 0u);
  const auto first = taken(order, 0, 100);
  const auto second = taken(order, 100, 100);
  EXPECT_NE(first, second);
  EXPECT_NE(first, all);
  for (auto pass : {first, second}) {
    std::ranges::sort(pass);
    EXPECT_EQ(pass, all);
  }
}

// A jump to a position gives the same examples as counting up to it.
TEST(BatchOrder, FollowsFromThePositionAlone) {
  BatchOrder straight(1, "agent", 10);
  BatchOrder jumping(1, "agent", 10);
  const auto whole = taken(straight, 5, 20);
  for (const std::uint64_t at : {24u, 5u, 14u, 9u, 10u}) {
    EXPECT_EQ(taken(jumping, at, 1)[0], whole[at - 5]) << at;
  }
  BatchOrder other_agent(1, "other", 10);
  BatchOrder other_seed(2, "agent", 10);
  EXPECT_NE(taken(other_agent, 5, 20), whole);
  EXPECT_NE(taken(other_seed, 5, 20), whole);
}

TEST(BatchOrder, ABatchMayBeLargerThanTheData) {
  BatchOrder order(1, "agent", 3);
  EXPECT_EQ(taken(order, 0, 10).size(), 10u);
  BatchOrder one(1, "agent", 1);
  EXPECT_EQ(taken(one, 7, 2), (std::vector<std::uint32_t>{0, 0}));
}

}  // namespace
}  // namespace tributary
