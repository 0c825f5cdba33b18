// Tests of the members of an epoch: losses are reported once, and round trips are read now and
// then.
#include "core/service/peers/epoch_members.h"

#include <gtest/gtest.h>

namespace tributary {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

OpenPeers epoch_of_three() {
  OpenPeers epoch{.session = 7, .member = 1, .members = {}};
  for (const char* const id : {"a", "b", "c"}) {
    epoch.members.push_back({.public_key = {}, .endpoint = {}, .agent_id = id});
  }
  return epoch;
}

TEST(EpochMembers, ALossIsReportedOnce) {
  EpochMembers members(epoch_of_three());
  EXPECT_FALSE(members.is_lost(0));
  EXPECT_TRUE(members.lose(0));
  EXPECT_TRUE(members.is_lost(0));
  EXPECT_FALSE(members.lose(0));
  EXPECT_FALSE(members.is_lost(2));
}

TEST(EpochMembers, AMemberDoesNotLoseItself) {
  EpochMembers members(epoch_of_three());
  EXPECT_FALSE(members.lose(1));
  EXPECT_FALSE(members.is_lost(1));
}

TEST(EpochMembers, RoundTripsAreReadNowAndThen) {
  EpochMembers members(epoch_of_three());
  EXPECT_TRUE(members.round_trip_due(0, seconds(0)));
  EXPECT_FALSE(members.round_trip_due(0, EpochMembers::kRoundTripEvery - milliseconds(1)));
  EXPECT_TRUE(members.round_trip_due(2, seconds(1))) << "each has its own";
  EXPECT_TRUE(members.round_trip_due(0, EpochMembers::kRoundTripEvery));
  EXPECT_FALSE(members.round_trip_due(0, EpochMembers::kRoundTripEvery));
}

TEST(EpochMembers, EachHasItsName) {
  const EpochMembers members(epoch_of_three());
  EXPECT_EQ(members.size(), 3u);
  EXPECT_EQ(members.agent_id(2), "c");
  EXPECT_EQ(members.epoch().session, 7u);
}

}  // namespace
}  // namespace tributary
