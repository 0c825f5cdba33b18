// Tests of one hub with many spokes.
#include <gmock/gmock.h>

#include "core/net/zmq/link_testing.h"

namespace tributary {
namespace {

using link_testing::Federation;
using link_testing::pump;
using link_testing::Side;
using link_testing::text;

constexpr std::size_t kSpokes = 200;

// One pass over all spokes takes long enough, so events are collected without waiting for them.
bool pump_all(Side& hub, std::vector<Side>& spokes, const std::function<bool()>& condition) {
  const SystemClock clock;
  const auto give_up_at = clock.now() + std::chrono::seconds(200);
  while (!condition()) {
    if (clock.now() > give_up_at) return false;
    for (std::size_t i = 0; i < 2 * kSpokes; ++i) hub.collect(std::chrono::seconds(-1));
    for (Side& spoke : spokes) spoke.collect(std::chrono::seconds(-1));
  }
  return true;
}

TEST(ManySpokes, EachIsAnswered) {
  Federation federation;
  std::optional<Side> hub = federation.hub();
  Result<std::shared_ptr<LinkContext>> shared = LinkContext::open({});
  ASSERT_TRUE(shared.ok());
  std::vector<Side> spokes;
  for (std::size_t i = 0; i < kSpokes; ++i) {
    SpokeOptions options = federation.spoke_options(federation.allowed_keys(std::to_string(i)));
    options.context = *shared;
    options.seed = i;
    spokes.push_back(Federation::spoke(options));
  }
  const auto all_connected = [&] {
    return std::all_of(spokes.begin(), spokes.end(), [](const Side& s) { return s.connected(); });
  };
  ASSERT_TRUE(pump_all(*hub, spokes, all_connected));
  const SharedSlice payload = Bytes(10'000, 5);
  for (std::size_t i = 0; i < kSpokes; ++i) {
    ASSERT_TRUE(spokes[i].send(std::to_string(i), payload).ok());
  }
  ASSERT_TRUE(pump_all(*hub, spokes, [&] { return hub->count<Received>() == kSpokes; }));
  for (const Received* message : hub->all<Received>()) {
    ASSERT_TRUE(hub->link->send(message->connection, Bytes(message->frame), payload).ok());
  }
  ASSERT_TRUE(pump_all(*hub, spokes, [&] {
    return std::all_of(spokes.begin(), spokes.end(),
                       [](const Side& s) { return s.count<Received>() == 1; });
  }));
  for (std::size_t i = 0; i < kSpokes; ++i) {
    EXPECT_EQ(text(spokes[i].last<Received>()->frame), std::to_string(i));
  }
  // The hub is killed; all spokes connect to the new one.
  hub.reset();
  ASSERT_TRUE(pump({&spokes[0]}, [&] { return !spokes[0].connected(); }));
  hub = federation.hub();
  for (Side& spoke : spokes) spoke.events.clear();
  ASSERT_TRUE(pump_all(*hub, spokes,
                       [&] { return all_connected() && hub->count<Connected>() == kSpokes; }));
}

}  // namespace
}  // namespace tributary
