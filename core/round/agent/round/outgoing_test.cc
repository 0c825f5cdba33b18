// Tests of the queue of payloads that an agent sends: calls, receipts, new sessions, and the memory
// of the coordinator.
#include "core/round/agent/round/outgoing.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace tributary {
namespace {

constexpr TimeNs kAgainNs = 100;
constexpr RoundKey kAttempt = {.job = 1, .round = 1, .epoch = 1, .attempt = 0};

// Records the requests to the session. A payload counts as being sent until `arrive` is called.
class SomeOutgoing : public testing::Test {
 protected:
  using Calls = std::vector<std::string>;

  void add(std::uint32_t bucket, std::size_t bytes) {
    outgoing_.add({.bucket = bucket, .bytes = std::make_shared<const Bytes>(bytes)});
  }
  Outgoing::Session session() {
    const auto place = [this](const Outgoing::Payload& payload) {
      return std::ranges::find(sending_, payload.bucket);
    };
    return {
        .send =
            [this](const Outgoing::Payload& payload, std::uint64_t from) {
              sending_.push_back(payload.bucket);
              calls_.push_back("send " + std::to_string(payload.bucket) + " from " +
                               std::to_string(from));
            },
        .sending = [this, place](const auto& payload) { return place(payload) != sending_.end(); },
        .stop = [this](const Outgoing::Payload& payload) { std::erase(sending_, payload.bucket); },
        .announce =
            [this](const Outgoing::Payload& payload) {
              calls_.push_back("announce " + std::to_string(payload.bucket));
            }};
  }
  Calls pump(TimeNs now) {
    outgoing_.pump(now, kAgainNs, session());
    return std::exchange(calls_, {});
  }
  void arrive(std::uint32_t bucket) { std::erase(sending_, bucket); }
  Calls receipt(TimeNs now, std::uint32_t bucket, std::uint64_t received, std::uint32_t window) {
    wire::ReceiptT receipt;
    receipt.id = std::make_unique<wire::RoundId>(1, 1, 1, 0);
    receipt.bucket = bucket;
    receipt.received_bytes = received;
    receipt.payloads_in_flight_max = window;
    flatbuffers::FlatBufferBuilder builder;
    builder.Finish(wire::Receipt::Pack(builder, &receipt));
    outgoing_.receipt(now, kAgainNs,
                      *flatbuffers::GetRoot<wire::Receipt>(builder.GetBufferPointer()), session());
    return std::exchange(calls_, {});
  }

  Outgoing outgoing_;
  std::vector<std::uint32_t> sending_;
  Calls calls_;
};

TEST_F(SomeOutgoing, SendsEachPayloadOnceAndKeepsItUntilItsReceipt) {
  outgoing_.begin(kAttempt, false);
  add(0, 5000);
  EXPECT_EQ(pump(0), Calls{"send 0 from 0"});
  EXPECT_EQ(pump(1'000'000), Calls{}) << "however long it takes";
  EXPECT_EQ(outgoing_.next_due_ns(), kNever);
  EXPECT_EQ(outgoing_.bytes(), 5000u);
  receipt(2'000'000, 0, 5000, 1);
  EXPECT_TRUE(outgoing_.empty());
  EXPECT_TRUE(sending_.empty());
}

TEST_F(SomeOutgoing, AsksForAMissingReceipt) {
  outgoing_.begin(kAttempt, false);
  add(0, 5000);
  pump(0);
  arrive(0);
  EXPECT_EQ(pump(10), Calls{});
  EXPECT_EQ(outgoing_.next_due_ns(), 10 + kAgainNs);
  EXPECT_EQ(pump(10 + kAgainNs), Calls{"announce 0"});
  EXPECT_EQ(pump(11 + kAgainNs), Calls{});
  EXPECT_EQ(receipt(300, 0, 2000, 1), Calls{"send 0 from 2000"}) << "what is missing, and no more";
  EXPECT_EQ(receipt(301, 0, 2000, 1), Calls{}) << "it is under way";
}

TEST_F(SomeOutgoing, WaitsForItsCallAndReportsIt) {
  outgoing_.begin(kAttempt, true);
  add(0, 9000);
  EXPECT_EQ(pump(0), Calls{"announce 0"});
  EXPECT_EQ(pump(1), Calls{}) << "once is enough";
  EXPECT_EQ(outgoing_.next_due_ns(), kAgainNs);
  EXPECT_EQ(pump(kAgainNs), Calls{"announce 0"}) << "until an answer comes";
  EXPECT_EQ(receipt(kAgainNs + 1, 0, 0, 4), Calls{"send 0 from 0"});
  EXPECT_EQ(pump(100 * kAgainNs), Calls{});
}

TEST_F(SomeOutgoing, PayloadsAsSmallAsTheQuestionAreNotAnnounced) {
  outgoing_.begin(kAttempt, true);
  add(0, Outgoing::kUncalledBytesMax + 1);
  add(1, 500);
  EXPECT_EQ(pump(0), (Calls{"announce 0", "send 1 from 0"}));
}

TEST_F(SomeOutgoing, ContinuesInANewSession) {
  outgoing_.begin(kAttempt, false);
  add(0, 9000);
  add(1, 500);
  EXPECT_EQ(pump(0).size(), 2u);
  sending_.clear();
  outgoing_.reconnected();
  EXPECT_EQ(pump(1), (Calls{"announce 0", "announce 1"}));
  EXPECT_EQ(receipt(2, 0, 4000, 1), Calls{"send 0 from 4000"});
  EXPECT_EQ(receipt(3, 1, 500, 1), Calls{});
  EXPECT_EQ(outgoing_.bytes(), 9000u);
}

TEST_F(SomeOutgoing, WithoutSpaceItStopsAndWaits) {
  outgoing_.begin(kAttempt, false);
  add(0, 9000);
  pump(0);
  EXPECT_EQ(receipt(1, 0, 0, 0), Calls{});
  EXPECT_TRUE(sending_.empty());
  EXPECT_EQ(pump(2), Calls{});
  EXPECT_EQ(receipt(3, 0, 0, 2), Calls{"send 0 from 0"});
}

TEST_F(SomeOutgoing, APayloadOfAnEarlierRoundContinuesWhereItStopped) {
  outgoing_.begin(kAttempt, false);
  outgoing_.add({.bucket = 0, .bytes = std::make_shared<const Bytes>(9000), .encoded_round = 3});
  EXPECT_EQ(pump(0), Calls{"announce 0"});
  EXPECT_EQ(receipt(1, 0, 4000, 1), Calls{"send 0 from 4000"});
  const auto cut_off = outgoing_.cancel(0, 0, session());
  ASSERT_TRUE(cut_off);
  EXPECT_EQ(cut_off->encoded_round, 3u);
}

TEST_F(SomeOutgoing, APayloadThatWasNotSentIsNotCutOff) {
  outgoing_.begin(kAttempt, true);
  add(0, 9000);
  pump(0);
  EXPECT_FALSE(outgoing_.cancel(0, 0, session()));
  EXPECT_TRUE(outgoing_.empty());
}

TEST_F(SomeOutgoing, ThePayloadsOfAnEarlierRoundAreAnnouncedWhenAllHaveBeenSent) {
  outgoing_.begin(kAttempt, false);
  sending_ = {0, 1};  // for the earlier round
  for (const std::uint32_t bucket : {0u, 1u}) {
    outgoing_.add(
        {.bucket = bucket, .bytes = std::make_shared<const Bytes>(9000), .encoded_round = 3});
  }
  EXPECT_EQ(pump(0), Calls{});
  arrive(0);
  EXPECT_EQ(pump(0), Calls{});
  EXPECT_EQ(outgoing_.next_due_ns(), kNever);
  arrive(1);
  EXPECT_EQ(pump(0), (Calls{"announce 0", "announce 1"}));
}

TEST_F(SomeOutgoing, APayloadThatOutlivesTheRoundIsSentOn) {
  outgoing_.begin(kAttempt, false);
  outgoing_.add(
      {.bucket = 0, .bytes = std::make_shared<const Bytes>(9000), .outlives_round = true});
  pump(0);
  const auto sent_on = outgoing_.cancel(0, 0, session());
  ASSERT_TRUE(sent_on);
  EXPECT_EQ(sent_on->sent_in, kAttempt);
  EXPECT_EQ(sending_, std::vector<std::uint32_t>{0});
}

TEST_F(SomeOutgoing, AClosedStageStopsItsPayload) {
  outgoing_.begin(kAttempt, false);
  add(0, 9000);
  add(1, 9000);
  pump(0);
  EXPECT_TRUE(outgoing_.cancel(0, 0, session())) << "its upload had begun";
  EXPECT_EQ(sending_, std::vector<std::uint32_t>{1});
  outgoing_.stop_all(session());
  EXPECT_TRUE(sending_.empty());
  EXPECT_TRUE(outgoing_.empty());
}

}  // namespace
}  // namespace tributary
