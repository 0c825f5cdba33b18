// Tests of the link in user space: rate, delay, jitter, loss and queue, on a virtual clock.
#include "core/lab/packet_link.h"

#include <gmock/gmock.h>

#include <limits>
#include <vector>

namespace tributary {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using std::chrono::seconds;

PacketLink line(const PacketLinkOptions& options) { return *PacketLink::make(options); }

// A packet that is identified by its first byte.
LinkPacket line_packet(std::uint8_t name, std::size_t bytes) {
  return {.bytes = Bytes(bytes, name), .wire_bytes = bytes};
}

struct Arrival {
  int name;
  nanoseconds at;
  friend bool operator==(const Arrival&, const Arrival&) = default;
};

// Takes all packets at the times at which they are due.
std::vector<Arrival> all_of(PacketLink& line) {
  std::vector<Arrival> arrivals;
  while (const auto due = line.next_due()) {
    EXPECT_FALSE(line.take(*due - nanoseconds(1)));
    auto out = line.take(*due);
    if (!out) break;
    arrivals.push_back({out->packet.bytes[0], out->due});
  }
  return arrivals;
}

TEST(PacketLink, APacketTakesItsTimeAndThenTheDelay) {
  PacketLink slow = line({.delay = milliseconds(10), .bytes_per_s = 1'000'000});
  slow.put(seconds(1), line_packet(1, 1000));
  slow.put(seconds(1), line_packet(2, 500));
  slow.put(seconds(2), line_packet(3, 1000));
  EXPECT_THAT(all_of(slow), testing::ElementsAre(Arrival{1, seconds(1) + milliseconds(11)},
                                                 Arrival{2, seconds(1) + microseconds(11'500)},
                                                 Arrival{3, seconds(2) + milliseconds(11)}));
  EXPECT_EQ(slow.counts().packets, 3u);
  EXPECT_EQ(slow.counts().wire_bytes, 2500u);
}

TEST(PacketLink, WithoutARateThereIsOnlyTheDelay) {
  PacketLink fast = line({.delay = milliseconds(5)});
  for (std::uint8_t i = 1; i <= 3; ++i) fast.put(microseconds(i), line_packet(i, 60'000));
  EXPECT_THAT(all_of(fast),
              testing::ElementsAre(Arrival{1, microseconds(5001)}, Arrival{2, microseconds(5002)},
                                   Arrival{3, microseconds(5003)}));
}

TEST(PacketLink, HoldsItsRateOverManyPackets) {
  constexpr std::uint64_t kBytesPerS = 12'500'000;
  PacketLink shaped = line({.bytes_per_s = kBytesPerS, .queue_bytes = 1u << 30});
  constexpr int kPackets = 20'000;
  for (int i = 0; i < kPackets; ++i) shaped.put(seconds(0), line_packet(1, 1514));
  nanoseconds last{0};
  while (const auto due = shaped.next_due()) {
    EXPECT_GE(*due, last);
    last = *due;
    shaped.take(*due);
  }
  const double exact_s = 1514.0 * kPackets / kBytesPerS;
  EXPECT_NEAR(std::chrono::duration<double>(last).count(), exact_s, 1e-5 * exact_s);
}

TEST(PacketLink, AFullQueueDropsTheNewest) {
  PacketLink small = line({.bytes_per_s = 1'000'000, .queue_bytes = 3000});
  for (std::uint8_t i = 1; i <= 9; ++i) small.put(seconds(1), line_packet(i, 1000));
  EXPECT_EQ(small.counts().overflowed, 6u);
  small.put(seconds(1) + milliseconds(1),
            line_packet(10, 5000));  // the first packet has left, so the queue has room
  small.put(seconds(1) + milliseconds(1), line_packet(11, 1000));
  EXPECT_EQ(small.counts().overflowed, 7u);
  EXPECT_THAT(all_of(small), testing::ElementsAre(Arrival{1, seconds(1) + milliseconds(1)},
                                                  Arrival{2, seconds(1) + milliseconds(2)},
                                                  Arrival{3, seconds(1) + milliseconds(3)},
                                                  Arrival{10, seconds(1) + milliseconds(8)}));
}

// Without a rate the queue is unlimited, so the memory bound applies.
TEST(PacketLink, HoldsNoMoreThanItsShareOfMemory) {
  PacketLink endless = line({.delay = seconds(10)});
  const std::size_t size = 1u << 20;
  for (std::size_t i = 0; i < 100; ++i) endless.put(seconds(0), line_packet(1, size));
  EXPECT_EQ(endless.counts().overflowed, 100 - PacketLink::kHeldBytesMax / size);
  while (endless.take(seconds(10))) {
  }
  EXPECT_EQ(endless.counts().packets, PacketLink::kHeldBytesMax / size);
  endless.put(seconds(11), line_packet(1, size));
  EXPECT_EQ(endless.next_due(), seconds(21)) << "there is room again";
}

// Losses depend only on seed, stream and number.
TEST(PacketLink, LosesItsShareAndTheSameOnesAgain) {
  const auto arrived = [](std::uint64_t seed, std::uint32_t stream) {
    PacketLink lossy = line({.loss = 0.05, .seed = seed, .stream = stream});
    std::vector<nanoseconds> times;
    for (int i = 0; i < 20'000; ++i) lossy.put(microseconds(i), line_packet(1, 100));
    while (const auto due = lossy.next_due()) times.push_back(lossy.take(*due)->due);
    EXPECT_EQ(lossy.counts().lost + times.size(), 20'000u);
    EXPECT_NEAR(static_cast<double>(lossy.counts().lost), 1000, 150);
    return times;
  };
  EXPECT_EQ(arrived(7, 0), arrived(7, 0));
  EXPECT_NE(arrived(7, 0), arrived(8, 0));
  EXPECT_NE(arrived(7, 0), arrived(7, 1));
}

TEST(PacketLink, EverySegmentIsLostByItself) {
  PacketLink lossy = line({.loss = 0.01, .seed = 5});
  for (int i = 0; i < 5000; ++i) {
    lossy.put(microseconds(i), {.bytes = Bytes(100, 0), .wire_bytes = 1000, .segments = 10});
  }
  EXPECT_NEAR(static_cast<double>(lossy.counts().lost), 500, 100);
  // A packet that cannot be cut is lost with its first segment: 0.99^10 remain.
  EXPECT_NEAR(static_cast<double>(all_of(lossy).size()), 4522, 100);
}

TEST(PacketLink, JitterKeepsTheOrder) {
  PacketLink uneven = line({.delay = milliseconds(5), .jitter = milliseconds(5), .seed = 2});
  for (int i = 0; i < 1000; ++i) {
    uneven.put(microseconds(i * 100), line_packet(static_cast<std::uint8_t>(i % 251), 100));
  }
  const std::vector<Arrival> arrivals = all_of(uneven);
  ASSERT_EQ(arrivals.size(), 1000u);
  for (std::size_t i = 0; i < arrivals.size(); ++i) {
    EXPECT_EQ(arrivals[i].name, static_cast<int>(i % 251));
    EXPECT_GE(arrivals[i].at, microseconds(i * 100) + milliseconds(5));
  }
}

TEST(PacketLink, SomePacketsOvertake) {
  PacketLink mixed =
      line({.delay = milliseconds(10), .bytes_per_s = 1'000'000, .reorder = 0.1, .seed = 4});
  for (int i = 0; i < 5000; ++i) {
    mixed.put(milliseconds(i), line_packet(static_cast<std::uint8_t>(i % 251), 1000));
  }
  std::uint64_t early = 0;
  nanoseconds last{0};
  while (const auto due = mixed.next_due()) {
    EXPECT_GE(*due, last);
    last = *due;
    const auto out = mixed.take(*due);
    // A packet in order leaves at the end of its own millisecond and takes ten more.
    early += (out->packet.bytes[0] - (due->count() / 1'000'000 - 11) % 251) % 251 != 0 ? 1u : 0u;
  }
  EXPECT_EQ(early, mixed.counts().reordered);
  EXPECT_NEAR(static_cast<double>(early), 500, 100);
}

TEST(PacketLink, AChangeAppliesToLaterPackets) {
  PacketLink changing = line({.delay = milliseconds(10), .bytes_per_s = 1'000'000});
  changing.put(seconds(0), line_packet(1, 1000));
  changing.change(milliseconds(1), 2'000'000, 0, 1u << 20);
  changing.put(milliseconds(20), line_packet(2, 1000));
  changing.change(milliseconds(1), 0, 1, 1u << 20);
  changing.put(milliseconds(30), line_packet(3, 1000));
  EXPECT_THAT(all_of(changing),
              testing::ElementsAre(Arrival{1, milliseconds(11)}, Arrival{2, microseconds(21'500)}));
  EXPECT_EQ(changing.counts().lost, 1u);
}

TEST(PacketLink, RefusesInvalidSettings) {
  for (const PacketLinkOptions& bad :
       {PacketLinkOptions{.delay = seconds(-1)}, PacketLinkOptions{.loss = 2},
        PacketLinkOptions{.reorder = -0.1},
        PacketLinkOptions{.reorder = std::numeric_limits<double>::quiet_NaN()}}) {
    EXPECT_EQ(PacketLink::make(bad).status().code(), StatusCode::invalid_argument);
  }
}

}  // namespace
}  // namespace tributary
