#include "coordinator/closed_loop/truth/true_network.h"

#include <gtest/gtest.h>

#include "coordinator/closed_loop/truth/closed_loop_testing.h"

namespace tributary {
namespace {

using closed_loop_testing::scenario_of;
using closed_loop_testing::steady;

constexpr std::uint32_t kHub = 2;

// Two agents and the coordinator.
struct Network {
  explicit Network(PlanScenario scenario) {
    scenario.agents = 2;
    federation = make_federation(scenario, 1);
  }
  // Returns the arrival time of a message that is sent at 0 s.
  double arrival_s(std::uint32_t from, std::uint32_t to, double bytes) {
    TrueNetwork network(federation, {0, 1}, windows, 0, {});
    double arrived_s = 0;
    network.send(from, to, bytes, [&] { arrived_s = network.now_s(); });
    network.run();
    return arrived_s;
  }
  TrueFederation federation;
  TcpWindows windows;
};

TEST(TrueNetwork, UploadTakesItsBytesAndTheLatency) {
  EXPECT_NEAR(Network(steady(1, 10)).arrival_s(0, kHub, 125'000), 1.01, 1e-9);
}

// A path between agents crosses two links, of which both have the latency.
TEST(TrueNetwork, AgentsReachOneAnotherOverBothLinks) {
  const double overlap_s = 1.0 / 8;  // the last piece crosses the second link alone
  EXPECT_NEAR(Network(steady(1, 10)).arrival_s(0, 1, 125'000), 1.02, overlap_s);
}

TEST(TrueNetwork, NetworkOfTheirOwnIsUsedAmongAgentsOnly) {
  PlanScenario scenario = steady(1, 10);
  scenario.peers.emplace();
  scenario.peers->steps = {{.seconds = 1, .rate_mbit_s = 100, .delay_ms = 1}};
  EXPECT_LT(Network(scenario).arrival_s(0, 1, 125'000), 0.05);
  EXPECT_NEAR(Network(scenario).arrival_s(0, kHub, 125'000), 1.01, 1e-9);
}

TEST(TrueNetwork, UploadsOfAllAgentsShareTheCoordinatorsLink) {
  PlanScenario scenario = steady(100, 1);
  scenario.coordinator_mbit_s = 1;
  Network both(scenario);
  TrueNetwork network(both.federation, {0, 1}, both.windows, 0, {});
  network.send(0, kHub, 125'000, {});
  network.send(1, kHub, 125'000, {});
  network.run();
  EXPECT_NEAR(network.now_s(), 2, 0.05);
}

TEST(TrueNetwork, RateChangesDuringATransfer) {
  const PlanScenario scenario =
      scenario_of({{.seconds = 0.5, .rate_mbit_s = 1}, {.seconds = 100, .rate_mbit_s = 10}});
  // Half of it in 0.5 s, the other half at the tenfold rate.
  EXPECT_NEAR(Network(scenario).arrival_s(0, kHub, 125'000), 0.55, 1e-9);
}

TEST(TrueNetwork, NodeComputesOneThingAfterTheOther) {
  Network network(steady(1, 10));
  TrueNetwork nodes(network.federation, {0, 1}, network.windows, 0, {});
  std::vector<double> ends_s;
  for (const std::uint32_t node : {0u, 0u, 1u}) {
    nodes.compute(node, 2, [&] { ends_s.push_back(nodes.now_s()); });
  }
  nodes.run();
  EXPECT_EQ(ends_s, (std::vector<double>{2, 2, 4}));
}

// 100 Mbit/s with a round trip of 100 ms hold 1.25 MB. Windows of 14,480 to 463,360 bytes are six
// round trips, in which 912,240 bytes are sent; the last window holds the rest of the megabyte.
TEST(TcpWindows, ConnectionBeginsSlowlyAndAgainAfterAPause) {
  TcpWindows windows;
  const double first_s = 6 * 0.1 - 912'240 * 8e-8;
  EXPECT_NEAR(windows.delay_s(0, 1, 1e6, 8e-8, 0.1, 0), first_s, 1e-9);
  EXPECT_LT(windows.delay_s(0, 1, 1e6, 8e-8, 0.1, 0.1), 0.03);
  EXPECT_EQ(windows.delay_s(0, 1, 1e6, 8e-8, 0.1, 0.2), 0);
  EXPECT_NEAR(windows.delay_s(0, 1, 1e6, 8e-8, 0.1, 10), first_s, 1e-9);
  EXPECT_NEAR(windows.delay_s(1, 0, 1e6, 8e-8, 0.1, 10), first_s, 1e-9) << "another connection";
}

TEST(TcpWindows, ThinLinkIsCoveredFromTheBeginning) {
  TcpWindows windows;
  EXPECT_EQ(windows.delay_s(0, 1, 1e6, 8e-6, 0.1, 0), 0);
}

}  // namespace
}  // namespace tributary
