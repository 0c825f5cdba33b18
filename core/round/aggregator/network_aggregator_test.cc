// Tests of the session of an aggregator in the network, with a coordinator at the other end.
#include "core/round/aggregator/network_aggregator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/round/coordinator/coordinator.h"
#include "schemas/frame.h"

namespace tributary {
namespace {

class NetworkAggregatorTest : public testing::Test {
 protected:
  void SetUp() override {
    auto made = Coordinator::make(CoordinatorConfig{}, {});
    ASSERT_TRUE(made.ok()) << made.status().text();
    coordinator_ = std::move(*made);
  }

  static FrameReceived received(const Send& send) {
    FrameReceived event;
    event.peer = 1;
    event.frame = send.frame;
    event.authenticated_as = "switch";
    return event;
  }
  // Passes the messages of both sides until none is left; keeps all other actions.
  void play(Actions from_aggregator) {
    Actions from_coordinator;
    while (!from_aggregator.empty() || !from_coordinator.empty()) {
      Actions next;
      for (Action& action : from_aggregator) {
        if (const auto* send = std::get_if<Send>(&action)) {
          append(next, coordinator_->handle(now_, received(*send)));
        } else {
          kept_.push_back(std::move(action));
        }
      }
      from_aggregator.clear();
      for (Action& action : from_coordinator) {
        if (const auto* send = std::get_if<Send>(&action)) {
          append(from_aggregator, aggregator_.handle(now_, received(*send)));
        } else {
          kept_.push_back(std::move(action));
        }
      }
      from_coordinator = std::move(next);
    }
  }
  static void append(Actions& all, Actions more) {
    for (Action& action : more) all.push_back(std::move(action));
  }
  void connect() { play(aggregator_.handle(now_, PeerConnected{})); }
  template <typename Kind>
  std::vector<Kind> kept() const {
    std::vector<Kind> found;
    for (const Action& action : kept_) {
      if (const auto* one = std::get_if<Kind>(&action)) found.push_back(*one);
    }
    return found;
  }
  std::vector<std::string> notes(std::string_view name) const {
    std::vector<std::string> reasons;
    for (const Note& note : kept<Note>()) {
      if (note.name == name) reasons.emplace_back(note.reason);
    }
    return reasons;
  }

  TimeNs now_ = 1'000 * kNsPerMs;
  NetworkAggregator aggregator_{
      {.id = "switch", .address = "10.0.0.1:4650", .slots = 64, .packet_values = 128}};
  std::unique_ptr<Coordinator> coordinator_;
  Actions kept_;
};

TEST_F(NetworkAggregatorTest, ItOpensASessionAndIsNoAgent) {
  connect();
  EXPECT_TRUE(aggregator_.connected());
  EXPECT_TRUE(aggregator_.idle());
  EXPECT_TRUE(coordinator_->agents().empty());
  EXPECT_EQ(notes("aggregator_connected").size(), 1u);
  EXPECT_THAT(kept<Note>(),
              testing::Contains(testing::Field(&Note::text, "at 10.0.0.1:4650, 64 slots")))
      << "the dashboard shows both";
}

TEST_F(NetworkAggregatorTest, WithoutSlotsOrAnAddressItIsRefused) {
  NetworkAggregator other({.id = "switch", .address = "10.0.0.1:4650", .slots = 0});
  for (const Action& action : other.handle(now_, PeerConnected{})) {
    if (const auto* send = std::get_if<Send>(&action)) {
      append(kept_, coordinator_->handle(now_, received(*send)));
    }
  }
  EXPECT_THAT(notes("frame_refused"), testing::ElementsAre("malformed"));
}

TEST_F(NetworkAggregatorTest, AnEpochThatIsDecidedIsReported) {
  connect();
  play(aggregator_.handle(now_, EpochDecided{.job = 9,
                                             .handle = 3,
                                             .epoch = 4,
                                             .status = Status(StatusCode::mismatch, {.what = "x"}),
                                             .epoch_highest = 7}));
  EXPECT_EQ(notes("epoch_refused").size(), 1u);
  EXPECT_TRUE(aggregator_.idle()) << "the coordinator has answered";
}

TEST_F(NetworkAggregatorTest, ItLeavesInOrder) {
  connect();
  play(aggregator_.handle(now_, Shutdown{.reason = "end"}));
  ASSERT_EQ(kept<Finished>().size(), 1u);
  EXPECT_TRUE(kept<Finished>()[0].status.ok());
  EXPECT_THAT(notes("agent_gone"), testing::ElementsAre("left"));
  EXPECT_EQ(aggregator_.next_wakeup_ns(), kNever);
}

}  // namespace
}  // namespace tributary
