// Tests of arrival times and progress reports on a slow simulated link.
#include "core/sim/machines/network.h"

#include <gtest/gtest.h>

#include <memory>
#include <utility>
#include <vector>

#include "schemas/frame.h"

namespace tributary {
namespace {

// Records the arrival times of messages.
class Listener final : public Receiver {
 public:
  explicit Listener(const SimulationContext& sim) : sim_(sim) {}

  bool listening() const override { return true; }
  void receive(const FrameReceived& event) override {
    arrived.push_back(sim_.now());
    bytes += event.payload.size();
  }
  void connected(PeerId) override { ++connections; }
  void disconnected(PeerId) override {}
  void alive(PeerId) override { alive_at.push_back(sim_.now()); }

  std::vector<TimeNs> arrived;
  std::vector<TimeNs> alive_at;
  std::uint64_t bytes = 0;
  int connections = 0;

 private:
  const SimulationContext& sim_;
};

Message message_of(std::size_t bytes) {
  wire::FrameT frame;
  frame.session = 1;
  wire::HeartbeatT beat;
  beat.count = 1;
  beat.activity = wire::Activity::idle;
  frame.message.Set(beat);
  Result<Bytes> built = build_frame(frame);
  EXPECT_TRUE(built.ok()) << built.status().text();
  const auto payload = std::make_shared<Bytes>(bytes, std::uint8_t{1});
  return {.frame = std::move(*built), .has_payload = true, .payload = {payload, *payload}};
}

class ThinNetwork : public testing::Test {
 protected:
  ThinNetwork() {
    scenario.agents = 1;
    scenario.network = {.delay = {0, 0}, .rate_mbit_s = 0.8, .stream = true};  // 100 kB/s
    sim = std::make_unique<SimulationContext>(scenario, 1, Mutation::none);
    coordinator = std::make_unique<Listener>(*sim);
    agent = std::make_unique<Listener>(*sim);
    network = std::make_unique<SimulatedNetwork>(*sim);
    network->attach(*coordinator, {agent.get()});
    network->dial(0);
    run_until(kS);
    EXPECT_EQ(agent->connections, 1);
  }

  void run_until(TimeNs end) {
    sim->queue.at(end, [] {});
    while (!sim->queue.empty() && sim->queue.next_at_ns() <= end) sim->queue.run_next();
  }

  Scenario scenario;
  std::unique_ptr<SimulationContext> sim;
  std::unique_ptr<Listener> coordinator;
  std::unique_ptr<Listener> agent;
  std::unique_ptr<SimulatedNetwork> network;
};

TEST_F(ThinNetwork, ALargeMessageShowsAsProgress) {
  network->send_up(0, message_of(200'000));  // 2 s
  run_until(10 * kS);
  ASSERT_EQ(coordinator->arrived.size(), 1u);
  EXPECT_NEAR(static_cast<double>(coordinator->arrived[0]), 3e9, 2e7);
  EXPECT_EQ(coordinator->alive_at,
            (std::vector<TimeNs>{1250 * kMs, 1750 * kMs, 2250 * kMs, 2750 * kMs}));
  EXPECT_TRUE(agent->alive_at.empty());
}

TEST_F(ThinNetwork, ASmallMessageDoesNot) {
  for (int i = 0; i < 20; ++i) network->send_up(0, message_of(20'000));
  run_until(10 * kS);
  EXPECT_EQ(coordinator->arrived.size(), 20u);
  EXPECT_TRUE(coordinator->alive_at.empty());
}

TEST_F(ThinNetwork, APartitionHoldsUpAStreamAndNothingShows) {
  network->send_up(0, message_of(200'000));
  run_until(kS + 500 * kMs);
  network->up(0).cut(sim->now(), 5 * kS);
  run_until(5 * kS - 1);
  EXPECT_EQ(coordinator->alive_at.size(), 1u);
  EXPECT_TRUE(coordinator->arrived.empty());
  run_until(10 * kS);
  ASSERT_EQ(coordinator->arrived.size(), 1u);
  EXPECT_NEAR(static_cast<double>(coordinator->arrived[0]), 6.5e9, 2e7);
  EXPECT_EQ(coordinator->alive_at.size(), 4u);
}

TEST_F(ThinNetwork, AClosedConnectionLosesMessagesInTransit) {
  network->send_up(0, message_of(1'000'000));
  run_until(2 * kS);
  const std::size_t shown = coordinator->alive_at.size();
  EXPECT_GT(shown, 0u);
  network->hang_up(0);
  network->dial(0);
  run_until(3 * kS);
  network->send_up(0, message_of(100'000));
  run_until(30 * kS);
  ASSERT_EQ(coordinator->arrived.size(), 1u);
  EXPECT_NEAR(static_cast<double>(coordinator->arrived[0]), 4e9, 2e7);
  EXPECT_EQ(coordinator->bytes, 100'000u);
}

}  // namespace
}  // namespace tributary
