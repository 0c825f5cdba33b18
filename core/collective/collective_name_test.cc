// Tests of the names of collectives.
#include "core/collective/collective_name.h"

#include <gtest/gtest.h>

#include "core/cost/exchange_shape.h"

namespace tributary {
namespace {

TEST(CollectiveName, AllThatAJobCanHaveAreKnown) {
  for (const wire::Collective collective : kCollectives) {
    const auto parsed = parse_collective(wire::EnumNameCollective(collective));
    ASSERT_TRUE(parsed.ok()) << parsed.status().text();
    EXPECT_EQ(*parsed, collective);
  }
}

// It is not among those of the planner.
TEST(CollectiveName, AJobCanHaveSumsInTheNetwork) {
  const auto parsed = parse_collective("in_network");
  ASSERT_TRUE(parsed.ok()) << parsed.status().text();
  EXPECT_EQ(*parsed, wire::Collective::in_network);
}

// JSON, settings and journals contain these spellings, so they never change.
TEST(CollectiveName, NamesAndTreesAreAsTheyWere) {
  const std::vector<std::string_view> names = {"star", "sharded_star",     "ring",
                                               "tree", "halving_doubling", "all_gather"};
  for (std::size_t i = 0; i < kCollectives.size(); ++i) {
    EXPECT_EQ(wire::EnumNameCollective(kCollectives[i]), names[i]);
    EXPECT_TRUE(tree_of(kCollectives[i])) << names[i];
  }
  EXPECT_FALSE(tree_of(wire::Collective::in_network));
}

TEST(CollectiveName, AWrongOneIsRefusedWithTheNearest) {
  const Status wrong = parse_collective("halving-doublin").status();
  EXPECT_EQ(wrong.code(), StatusCode::invalid_argument);
  EXPECT_NE(wrong.text().find("did you mean 'halving_doubling'?"), std::string::npos)
      << wrong.text();
  for (const char* const name : {"", "unspecified", "broadcast", "Ring"}) {
    EXPECT_FALSE(parse_collective(name).ok()) << name;
  }
}

}  // namespace
}  // namespace tributary
