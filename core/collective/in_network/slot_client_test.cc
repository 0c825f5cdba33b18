#include "core/collective/in_network/slot_client.h"

#include <gtest/gtest.h>

#include <vector>

namespace tributary::in_network {
namespace {

class SlotClientTest : public testing::Test {
 protected:
  SlotClientTest()
      : client_({.slots = 4,
                 .window = 2,
                 .timeout_ns_first = 1000,
                 .timeout_ns_min = 100,
                 .timeout_ns_max = 4000}) {
    client_.enter(5);
  }
  static PacketHeader result(const ChunkSend& send) {
    return {.epoch = 5, .sequence = send.sequence, .slot = send.slot};
  }

  SlotClient client_;
};

TEST_F(SlotClientTest, AResultReleasesTheNextChunk) {
  client_.begin(6, kNoTime);
  const auto first = client_.next_send(0);
  const auto second = client_.next_send(0);
  ASSERT_TRUE(first && second);
  EXPECT_EQ(second->slot, 1);
  EXPECT_FALSE(client_.next_send(0));
  EXPECT_TRUE(client_.on_result(result(*second), 10));
  EXPECT_FALSE(client_.on_result(result(*second), 10));
  const auto third = client_.next_send(10);
  ASSERT_TRUE(third);
  EXPECT_EQ(third->chunk, 2u);
}

TEST_F(SlotClientTest, ASlotWaitsForItsOwnResult) {
  client_.begin(6, kNoTime);
  std::vector<ChunkSend> sent;
  const auto first = client_.next_send(0);
  ASSERT_TRUE(first);
  // All others get results; the fifth chunk needs the slot of the first.
  while (const auto next = client_.next_send(0)) {
    sent.push_back(*next);
    EXPECT_TRUE(client_.on_result(result(*next), 1));
  }
  EXPECT_EQ(sent.size(), 3u);
  EXPECT_TRUE(client_.on_result(result(*first), 2));
  const auto fifth = client_.next_send(2);
  ASSERT_TRUE(fifth);
  EXPECT_EQ(fifth->chunk, 4u);
  EXPECT_EQ(fifth->slot, 0);
  EXPECT_EQ(fifth->sequence, 1u);
}

// All agents then repeat the same chunk, also if they have lost different packets.
TEST_F(SlotClientTest, TimeOutsRepeatTheOldestChunk) {
  client_.begin(2, kNoTime);
  ASSERT_TRUE(client_.next_send(0));
  ASSERT_TRUE(client_.next_send(500));
  EXPECT_EQ(client_.next_time_ns(), 1000);
  client_.on_time(1000);
  const auto repeat = client_.next_send(1000);
  ASSERT_TRUE(repeat);
  EXPECT_EQ(repeat->chunk, 0u);
  EXPECT_EQ(client_.repeats(), 1u);
  EXPECT_EQ(client_.next_time_ns(), 3000) << "the time-out has doubled";
  client_.on_time(3000);
  const auto second = client_.next_send(3000);
  ASSERT_TRUE(second);
  EXPECT_EQ(second->chunk, 0u);
}

// A result that has waited for another agent says little about round trips.
TEST_F(SlotClientTest, AWaitDuringTimeOutsCountsAsAShortRoundTrip) {
  SlotClient client({.slots = 64, .window = 8, .timeout_ns_min = 100});
  client.enter(5);
  client.begin(32, kNoTime);
  std::int64_t now = 0;
  for (int chunk = 0; chunk < 4; ++chunk, now += 20) {
    const auto sent = client.next_send(now);
    ASSERT_TRUE(sent);
    EXPECT_TRUE(client.on_result(result(*sent), now + 20));
  }
  std::vector<ChunkSend> sent;
  for (int chunk = 0; chunk < 8; ++chunk) sent.push_back(*client.next_send(now));
  for (const std::int64_t end = now + 50'000; now < end; now = client.next_time_ns()) {
    client.on_time(now);
    while (client.next_send(now)) {
    }
  }
  for (const ChunkSend& chunk : sent) EXPECT_TRUE(client.on_result(result(chunk), now));
  ASSERT_TRUE(client.next_send(now));
  EXPECT_LT(client.next_time_ns() - now, 2000) << "the silence was 50,000";
}

// All agents wait for a slow one, and no packet is lost.
TEST_F(SlotClientTest, WithoutAnyResultTheWindowKeepsItsSize) {
  client_.begin(2, kNoTime);
  const auto first = client_.next_send(0);
  const auto second = client_.next_send(0);
  ASSERT_TRUE(first && second);
  for (const std::int64_t now : {1000, 3000, 7000, 11'000}) {
    client_.on_time(now);
    while (client_.next_send(now)) {
    }
  }
  EXPECT_EQ(client_.repeats(), 4u) << "one at each time-out";
  EXPECT_EQ(client_.window(), 2u);
  EXPECT_TRUE(client_.on_result(result(*first), 12'000));
  EXPECT_TRUE(client_.on_result(result(*second), 12'000));
  EXPECT_EQ(client_.window(), 3u);
}

TEST_F(SlotClientTest, AResultOfALaterChunkShowsALoss) {
  client_.begin(6, kNoTime);
  const auto first = client_.next_send(0);
  const auto second = client_.next_send(10);
  ASSERT_TRUE(first && second);
  EXPECT_TRUE(client_.on_result(result(*second), 30));
  const auto repeat = client_.next_send(30);
  ASSERT_TRUE(repeat);
  EXPECT_EQ(repeat->chunk, 0u);
  EXPECT_EQ(repeat->sequence, first->sequence);
  EXPECT_EQ(client_.repeats(), 1u);
}

// Packets that left almost together may arrive in any order.
TEST_F(SlotClientTest, AChunkThatWasSentAtTheSameTimeIsNotLost) {
  client_.begin(6, kNoTime);
  ASSERT_TRUE(client_.next_send(0));
  const auto second = client_.next_send(0);
  ASSERT_TRUE(second);
  EXPECT_TRUE(client_.on_result(result(*second), 30));
  const auto third = client_.next_send(30);
  ASSERT_TRUE(third);
  EXPECT_EQ(third->chunk, 2u);
  EXPECT_EQ(client_.repeats(), 0u);
}

TEST_F(SlotClientTest, ARefusalCountsIfItIsForAContributionThatWaits) {
  client_.begin(2, kNoTime);
  const auto first = client_.next_send(0);
  ASSERT_TRUE(first);
  PacketHeader refusal = result(*first);
  refusal.reason = DropReason::unknown_job;
  refusal.epoch = 4;
  EXPECT_FALSE(client_.on_refusal(refusal));
  refusal.epoch = 5;
  EXPECT_TRUE(client_.on_refusal(refusal));
  EXPECT_EQ(client_.end(), BucketEnd::refused);
  EXPECT_EQ(client_.next_time_ns(), kNoTime);
}

TEST_F(SlotClientTest, TheDeadlineEndsTheBucket) {
  client_.begin(2, 700);
  ASSERT_TRUE(client_.next_send(0));
  EXPECT_EQ(client_.next_time_ns(), 700);
  client_.on_time(699);
  EXPECT_EQ(client_.end(), BucketEnd::running);
  client_.on_time(700);
  EXPECT_EQ(client_.end(), BucketEnd::deadline);
  EXPECT_FALSE(client_.next_send(700));
}

TEST_F(SlotClientTest, ABucketWithoutChunksIsComplete) {
  client_.begin(0, kNoTime);
  EXPECT_EQ(client_.end(), BucketEnd::complete);
}

TEST_F(SlotClientTest, TheNextBucketBeginsWhenAllChunksWereSentOnce) {
  client_.begin(2, kNoTime);
  const auto first = client_.next_send(0);
  EXPECT_FALSE(client_.can_begin());
  const auto second = client_.next_send(0);
  ASSERT_TRUE(first && second);
  ASSERT_TRUE(client_.can_begin());
  client_.begin(2, kNoTime);
  EXPECT_FALSE(client_.can_begin());
  EXPECT_FALSE(client_.next_send(0)) << "the window is full";
  EXPECT_TRUE(client_.on_result(result(*second), 10));
  const auto third = client_.next_send(10);
  ASSERT_TRUE(third);
  EXPECT_EQ(third->bucket, 1u);
  EXPECT_EQ(third->chunk, 0u);
  EXPECT_EQ(third->slot, 2) << "slots go on where the bucket before ended";
  EXPECT_TRUE(client_.on_result(result(*third), 20));
  // The first chunk is lost, because the third one was sent later.
  const auto again = client_.next_send(20);
  const auto fourth = client_.next_send(20);
  ASSERT_TRUE(again && fourth);
  EXPECT_EQ(again->bucket, 0u);
  EXPECT_EQ(again->chunk, 0u);
  EXPECT_EQ(fourth->bucket, 1u);
  EXPECT_TRUE(client_.on_result(result(*fourth), 30));
  // The second bucket has all results, the first one has not.
  EXPECT_EQ(client_.completed(), 0u);
  EXPECT_EQ(client_.end(), BucketEnd::running);
  EXPECT_TRUE(client_.on_result(result(*again), 40));
  EXPECT_EQ(client_.completed(), 2u);
  EXPECT_EQ(client_.end(), BucketEnd::complete);
  EXPECT_EQ(client_.sent_of(0), 3u);
  EXPECT_EQ(client_.repeats_of(0), 1u);
  EXPECT_EQ(client_.sent_of(1), 2u);
}

TEST_F(SlotClientTest, NoMoreBucketsAreUnderWayThanTheBound) {
  SlotClient client({.slots = 64, .window = 64});
  client.enter(1);
  for (std::uint32_t bucket = 0; bucket < kOpenBucketsMax; ++bucket) {
    ASSERT_TRUE(client.can_begin());
    client.begin(1, bucket == 3 ? 50 : kNoTime);
    ASSERT_TRUE(client.next_send(0));
  }
  EXPECT_FALSE(client.can_begin());
  EXPECT_EQ(client.next_time_ns(), 50) << "the deadline of any bucket";
  client.on_time(50);
  EXPECT_EQ(client.end(), BucketEnd::deadline);
  EXPECT_FALSE(client.can_begin());
}

// No later chunk can show the loss of the last one.
TEST_F(SlotClientTest, TheLastChunkIsProbedAfterLittleMoreThanARoundTrip) {
  client_.begin(4, kNoTime);
  std::int64_t now = 0;
  for (int chunk = 0; chunk < 3; ++chunk, now += 20) {
    const auto sent = client_.next_send(now);
    ASSERT_TRUE(sent);
    EXPECT_TRUE(client_.on_result(result(*sent), now + 20));
  }
  const auto last = client_.next_send(now);
  ASSERT_TRUE(last);
  const std::int64_t probe = client_.next_time_ns() - now;
  EXPECT_GT(probe, 20);
  EXPECT_LT(probe, 60) << "the shortest time-out is 100";
  // Without an answer, probes end and time-outs begin.
  std::int64_t before = now;
  for (int round = 0; round < 4; ++round) {
    before = now;
    now = client_.next_time_ns();
    EXPECT_EQ(now - before, probe);
    client_.on_time(now);
    ASSERT_TRUE(client_.next_send(now));
  }
  EXPECT_EQ(client_.next_time_ns() - now, 100);
}

// The answer to a chunk that this agent has repeated may have waited for another agent's repeat. It
// shows nothing about chunks that were sent between.
TEST_F(SlotClientTest, TheAnswerToARepeatShowsNoLoss) {
  SlotClient client({.slots = 64, .window = 4});
  client.enter(5);
  client.begin(32, kNoTime);
  std::vector<ChunkSend> sent;
  for (int chunk = 0; chunk < 4; ++chunk) sent.push_back(*client.next_send(chunk * 200));
  EXPECT_TRUE(client.on_result(result(sent[1]), 700));  // the first chunk is lost
  const auto repeat = client.next_send(800);
  ASSERT_TRUE(repeat);
  EXPECT_EQ(repeat->chunk, 0u);
  EXPECT_TRUE(client.on_result(result(*repeat), 1400));
  EXPECT_EQ(client.repeats(), 1u);
  while (const auto next = client.next_send(1400)) EXPECT_GE(next->chunk, 4u);
  EXPECT_EQ(client.repeats(), 1u);
}

}  // namespace
}  // namespace tributary::in_network
