#include "core/collective/collective_name.h"

#include <gtest/gtest.h>

namespace tributary {
namespace {

TEST(CollectiveName, AllThatAJobCanHaveAreKnown) {
  for (const wire::Collective collective : kCollectives) {
    const auto parsed = parse_collective(wire::EnumNameCollective(collective));
    ASSERT_TRUE(parsed.ok()) << parsed.status().text();
    EXPECT_EQ(*parsed, collective);
  }
}

// The names of the cost model and of the wire must not drift apart.
TEST(CollectiveName, EachHasItsKindOfExchange) {
  for (const ExchangeKind kind : kExchangeKinds) {
    EXPECT_EQ(kind_of(collective_of(kind)), kind);
    EXPECT_EQ(name(kind), wire::EnumNameCollective(collective_of(kind)));
  }
  EXPECT_EQ(kind_of(wire::Collective::in_network), std::nullopt);
}

TEST(CollectiveName, AWrongOneIsRefusedWithTheNearest) {
  const Status wrong = parse_collective("halving-doublin").status();
  EXPECT_EQ(wrong.code(), StatusCode::invalid_argument);
  EXPECT_NE(wrong.text().find("did you mean 'halving_doubling'?"), std::string::npos)
      << wrong.text();
  for (const char* const name : {"", "unspecified", "broadcast", "in_network", "Ring"}) {
    EXPECT_FALSE(parse_collective(name).ok()) << name;
  }
}

}  // namespace
}  // namespace tributary
