#include "core/collective/in_network/slot_client.h"

#include <gtest/gtest.h>

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

TEST_F(SlotClientTest, TimeOutsAreInTheOrderOfSending) {
  client_.begin(2, kNoTime);
  ASSERT_TRUE(client_.next_send(0));
  ASSERT_TRUE(client_.next_send(500));
  EXPECT_EQ(client_.next_time_ns(), 1000);
  client_.on_time(1000);
  const auto repeat = client_.next_send(1000);
  ASSERT_TRUE(repeat);
  EXPECT_EQ(repeat->chunk, 0u);
  EXPECT_EQ(client_.repeats(), 1u);
  EXPECT_EQ(client_.next_time_ns(), 2500) << "the time-out has doubled";
  client_.on_time(2500);
  const auto second = client_.next_send(2500);
  ASSERT_TRUE(second);
  EXPECT_EQ(second->chunk, 1u);
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
  EXPECT_EQ(client_.repeats(), 8u);
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

}  // namespace
}  // namespace tributary::in_network
