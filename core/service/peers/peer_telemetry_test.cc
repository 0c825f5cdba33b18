// Tests of the counters that a peer link's thread shares with the daemon.
#include "core/service/peers/peer_telemetry.h"

#include <gtest/gtest.h>

namespace tributary {
namespace {

TEST(PeerTelemetry, CountsAddUp) {
  PeerTelemetry telemetry;
  telemetry.count({.bytes_in = 1, .bytes_out = 10, .refused = 0});
  telemetry.count({.bytes_in = 2, .bytes_out = 20, .refused = 1});
  EXPECT_EQ(telemetry.counters().bytes_in, 3u);
  EXPECT_EQ(telemetry.counters().bytes_out, 30u);
  EXPECT_EQ(telemetry.counters().refused, 1u);
}

TEST(PeerTelemetry, TheFirstRefusedConnectionsAreRemembered) {
  PeerTelemetry telemetry;
  for (std::size_t i = 0; i < 2 * PeerTelemetry::kRefusedMax; ++i) {
    telemetry.refused({.reason = RefusalReason::failed_handshake,
                       .source = std::to_string(i),
                       .why = Status(StatusCode::mismatch, {})});
  }
  const std::vector<Refused> taken = telemetry.take_refused();
  ASSERT_EQ(taken.size(), PeerTelemetry::kRefusedMax);
  EXPECT_EQ(taken.front().source, "0");
  EXPECT_TRUE(telemetry.take_refused().empty());
}

TEST(PeerTelemetry, MeasuresAreTakenOnce) {
  PeerTelemetry telemetry;
  telemetry.measured("a",
                     {.kind = TransferKind::round_trip, .bytes = 1, .seconds = 0.02, .at_s = 1});
  EXPECT_EQ(telemetry.take_measured(10, 1).size(), 1u);
  EXPECT_TRUE(telemetry.take_measured(10, 1).empty());
}

}  // namespace
}  // namespace tributary
