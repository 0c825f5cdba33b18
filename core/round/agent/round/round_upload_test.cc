// Tests of the upload of one round: announcements and receipts over sessions and attempts.
#include "core/round/agent/round/round_upload.h"

#include <memory>
#include <vector>

#include "core/round/agent/replica/agent_parts_testing.h"

namespace tributary {
namespace {

using round_testing::AgentParts;
using round_testing::Packed;

// The upload of member 0 in round 1. The test opens sessions when it needs them.
class SomeUpload : public testing::Test {
 protected:
  void SetUp() override {
    agent_.have_model();
    round_ = std::make_unique<AgentRound>(agent_.round_plan(1));
    round_->take_part_as(0);
    upload_.begin(*round_);
  }
  void add() { upload_.add({.bytes = std::make_shared<const Bytes>(16)}); }
  wire::ReceiptT receipt(std::uint64_t received) {
    wire::ReceiptT made;
    made.id = std::make_unique<wire::RoundId>(wire_id(round_->key()));
    made.received_bytes = received;
    made.payloads_in_flight_max = 1;
    return made;
  }

  AgentParts agent_;
  RoundUpload upload_{agent_.context, agent_.session};
  std::unique_ptr<AgentRound> round_;
};

TEST_F(SomeUpload, WaitsForASession) {
  add();
  upload_.pump();
  EXPECT_TRUE(agent_.take().empty());
  agent_.open_session();
  upload_.pump();
  EXPECT_EQ(agent_.sent<wire::UpdateT>().size(), 1u);
  EXPECT_EQ(round_->cost().bytes_up, 16u);
  EXPECT_EQ(upload_.bytes(), 16u) << "until a receipt says that it has arrived";
  upload_.receive(*Packed(receipt(16)));
  EXPECT_EQ(upload_.bytes(), 0u);
}

TEST_F(SomeUpload, IgnoresReceiptsOfOtherAttempts) {
  agent_.open_session();
  add();
  wire::ReceiptT other = receipt(16);
  RoundKey key = round_->key();
  key.attempt = 1;
  other.id = std::make_unique<wire::RoundId>(wire_id(key));
  upload_.receive(*Packed(other));
  EXPECT_EQ(upload_.bytes(), 16u);
}

TEST_F(SomeUpload, AnnouncesSentBytesInTheNextSession) {
  agent_.open_session();
  add();
  upload_.pump();
  agent_.session.close();
  agent_.open_session(round_testing::kSession + 1);
  upload_.session_opened(1);
  agent_.take();
  upload_.pump();
  const auto announced = agent_.sent<wire::ReceiptT>();
  ASSERT_EQ(announced.size(), 1u);
  EXPECT_EQ(announced[0].waiting_bytes, 16u);
}

// The upload of member 0 of three after a ring.
class SomeResultUpload : public SomeUpload {
 protected:
  void SetUp() override {
    agent_.have_model();
    wire::PlanT plan = agent_.plan(1, {.members = 3});
    for (auto& exchange : plan.exchanges) exchange->collective = wire::Collective::ring;
    plan.divides_results = true;
    auto made = RoundPlan::make(plan, *agent_.replica.job(), agent_.codecs);
    ASSERT_TRUE(made.ok()) << made.status().text();
    round_ = std::make_unique<AgentRound>(*made);
    round_->take_part_as(0);
    upload_.begin(*round_);
    agent_.open_session();
    round_->work()[0].combined.push_back(result_);
  }
  void ask_for(std::uint32_t segment) {
    wire::ReceiptT asked = receipt(0);
    asked.segment = segment;
    upload_.receive(*Packed(asked));
  }
  // The places of all parts that were sent since the previous call, and their bytes.
  struct Sent {
    std::uint32_t segment = 0;
    std::uint64_t bytes = 0;
  };
  std::vector<Sent> pump() {
    upload_.pump();
    std::vector<Sent> all;
    for (const wire::AggregateT& message : agent_.sent<wire::AggregateT>()) {
      all.push_back({message.part->segment, message.part->stage_bytes});
    }
    return all;
  }

  const SharedBytes result_ = std::make_shared<const Bytes>(15'000);
};

TEST_F(SomeResultUpload, SendsItsSegment) {
  upload_.add_result(0, 0, result_);
  const auto sent = pump();
  ASSERT_FALSE(sent.empty());
  EXPECT_EQ(sent[0].segment, 0u);
  EXPECT_EQ(sent[0].bytes, 5'000u);
  EXPECT_EQ(round_->mechanisms().segments_uploaded, 1u);
  EXPECT_EQ(round_->cost().bytes_up, 5'000u);
}

TEST_F(SomeResultUpload, SendsNothingOfASmallResultOfAnotherMember) {
  upload_.add_result(1, 0, std::make_shared<const Bytes>(100));
  EXPECT_EQ(upload_.bytes(), 0u);
  upload_.add_result(3, 0, std::make_shared<const Bytes>(100));
  EXPECT_EQ(upload_.bytes(), 100u);
}

TEST_F(SomeResultUpload, SendsTheSegmentOfAnotherMemberIfItIsAskedTo) {
  ask_for(2);
  const auto sent = pump();
  ASSERT_FALSE(sent.empty());
  EXPECT_EQ(sent[0].segment, 2u);
  EXPECT_EQ(round_->cost().bytes_up, 5'000u);
}

TEST_F(SomeResultUpload, IgnoresAskedSegmentsThatDoNotExist) {
  ask_for(3);
  ask_for(0);
  wire::ReceiptT other = receipt(0);
  other.segment = 1;
  other.bucket = 100;
  upload_.receive(*Packed(other));
  other.bucket = 0;
  other.stage = 1;
  upload_.receive(*Packed(other));
  EXPECT_EQ(upload_.bytes(), 0u);
}

TEST_F(SomeUpload, DropsObsoleteParts) {
  agent_.open_session();
  add();
  upload_.close_stage(0, 0);
  EXPECT_EQ(upload_.bytes(), 0u);
  add();
  upload_.end();
  upload_.pump();
  EXPECT_EQ(upload_.bytes(), 0u);
  EXPECT_TRUE(agent_.take().empty());
}

}  // namespace
}  // namespace tributary
