// Tests of collecting measurements of links to peers.
#include "core/service/peers/peer_measures.h"

#include <gtest/gtest.h>

namespace tributary {
namespace {

LinkTransfer measured_trip(double trip_s, double at_s) {
  return {.kind = TransferKind::round_trip, .bytes = 1, .seconds = trip_s, .at_s = at_s};
}

TEST(PeerMeasures, NewReadingsAreTakenOnce) {
  PeerMeasures measures;
  measures.add("a", measured_trip(0.02, 1));
  measures.add("a", measured_trip(0.02, 2));
  const std::vector<PeerMeasured> taken = measures.take(10, 2);
  ASSERT_EQ(taken.size(), 1u);
  EXPECT_EQ(taken[0].agent_id, "a");
  EXPECT_NEAR(taken[0].link.alpha_s.value, 0.01, 1e-3);
  EXPECT_TRUE(measures.take(10, 3).empty());
  measures.add("a", measured_trip(0.02, 4));
  EXPECT_EQ(measures.take(10, 4).size(), 1u);
}

TEST(PeerMeasures, NoMoreAreTakenThanAskedFor) {
  PeerMeasures measures;
  for (const char* const id : {"a", "b", "c"}) measures.add(id, measured_trip(0.02, 1));
  EXPECT_EQ(measures.take(2, 1).size(), 2u);
  EXPECT_EQ(measures.take(2, 1).size(), 1u);
}

TEST(PeerMeasures, APeerWithoutAnIdIsNotMeasured) {
  PeerMeasures measures;
  measures.add("", measured_trip(0.02, 1));
  EXPECT_TRUE(measures.take(10, 1).empty());
}

TEST(PeerMeasures, AreBounded) {
  PeerMeasures measures;
  for (std::size_t i = 0; i < PeerMeasures::kPeersMax + 10; ++i) {
    measures.add("agent-" + std::to_string(i), measured_trip(0.02, static_cast<double>(i)));
  }
  EXPECT_EQ(measures.take(2 * PeerMeasures::kPeersMax, 1e4).size(), PeerMeasures::kPeersMax);
}

}  // namespace
}  // namespace tributary
