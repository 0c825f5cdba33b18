// Tests of the table of links by member: its bound, and the slowest trusted link.
#include "core/link_quality/link_table.h"

#include <gtest/gtest.h>

#include <string>

#include "core/link_quality/noisy_link_testing.h"

namespace tributary {
namespace {

// 30 s of heartbeats and trains over a link with these values.
void run(LinkTable& table, const std::string& member, double alpha_s, double beta_s_per_byte) {
  NoisyLink link(alpha_s, beta_s_per_byte, 1);
  for (double now_s = 0; now_s < 30; ++now_s) {
    table.add(member, link.transfer(TransferKind::round_trip, 200, now_s));
    table.add(member, link.transfer(TransferKind::train, 1e6, now_s));
  }
}

// Forgetting an unknown member is allowed: an agent may leave before it was measured.
TEST(LinkTable, KnowsEachMemberByItself) {
  LinkTable table;
  run(table, "near", 0.001, 1e-8);
  run(table, "far", 0.1, 1e-7);
  EXPECT_EQ(table.size(), 2u);
  EXPECT_NEAR(table.measured("near", 30).alpha_s.value, 0.001, 1e-6);
  EXPECT_NEAR(table.measured("far", 30).beta_s_per_byte.value, 1e-7, 1e-10);
  EXPECT_FALSE(table.measured("nobody", 30).known());
  EXPECT_EQ(table.find("nobody"), nullptr);
  table.forget("near");
  table.forget("nobody");
  EXPECT_FALSE(table.measured("near", 30).known());
  EXPECT_EQ(table.size(), 1u);
}

// The highest latency and the lowest rate may belong to different members.
TEST(LinkTable, TheSlowestIsTheWorstOfEachThatIsTrusted) {
  LinkTable table;
  EXPECT_FALSE(table.slowest(30, 0.5));
  run(table, "long", 0.1, 1e-8);
  run(table, "narrow", 0.001, 1e-6);
  table.add("new", {.kind = TransferKind::train, .bytes = 1e6, .seconds = 100, .at_s = 30});
  const auto slowest = table.slowest(30, 0.5);
  ASSERT_TRUE(slowest);
  EXPECT_NEAR(slowest->alpha_s, 0.1, 1e-4);
  EXPECT_NEAR(slowest->beta_s_per_byte, 1e-6, 1e-9) << "one train is not trusted";
  EXPECT_NEAR(table.slowest(30, 0)->beta_s_per_byte, 1e-4, 1e-7);
  EXPECT_FALSE(table.slowest(1e6, 0.5)) << "all of it is old";
}

// Three places. Agent b has been silent longest when d arrives, because a has another reading.
TEST(LinkTable, IsBoundedAndForgetsTheLongestSilentAgent) {
  LinkTable table(3);
  const LinkTransfer trip = {
      .kind = TransferKind::round_trip, .bytes = 200, .seconds = 0.1, .at_s = 1};
  for (const char* member : {"a", "b", "c", "a", "d"}) table.add(member, trip);
  EXPECT_EQ(table.size(), 3u);
  EXPECT_EQ(table.find("b"), nullptr);
  ASSERT_NE(table.find("a"), nullptr);
  EXPECT_EQ(table.find("a")->taken(), 2u);
  EXPECT_NE(table.find("d"), nullptr);
  LinkTable none(0);
  none.add("a", trip);
  EXPECT_EQ(none.size(), 0u);
}

}  // namespace
}  // namespace tributary
