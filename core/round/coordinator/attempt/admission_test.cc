// Tests of the admission of payloads to a limited memory: small payloads are taken at once, large
// ones when their sender is called, and memory is released in every case.
#include "core/round/coordinator/attempt/admission.h"

#include <gtest/gtest.h>

#include <memory>
#include <optional>

#include "core/round/common/plan/standalone_payload.h"
#include "core/round/coordinator/attempt/active_round_testing.h"
#include "core/round/coordinator/context/job_testing.h"

namespace tributary {
namespace {

using round_testing::begin_round;
using round_testing::JobTest;
using round_testing::kSmallJob;
using round_testing::kSmallValues;
using round_testing::Packed;
using round_testing::part_of;
using round_testing::payload_of;
using round_testing::wire_id_of;

// Memory for one incomplete payload, but not for two.
constexpr std::uint64_t kMemoryForOne = 1'000;
constexpr std::uint64_t kMemoryForAll = 1u << 20;

// Round 1 with one bucket, and the admission of its payloads within `memory` bytes.
class AdmissionTest : public JobTest {
 protected:
  void begin(std::uint32_t agents, std::uint64_t memory) {
    coordinator_.config.incoming_bytes_max = memory;
    open_epoch(agents);
    begin_next(1);
  }
  void begin_next(std::uint64_t round) {
    const auto agents = static_cast<std::uint32_t>(membership_.size());
    round_ = begin_round(membership_, coordinator_.now, make_plan(round));
    // Agents are called if the memory is too small for all of them.
    budget_.emplace(coordinator_.config, agents, job_.model->values());
    admission_ = std::make_unique<Admission>(coordinator_, membership_, *round_, *budget_, repeats_,
                                             carried_);
  }

  Bytes payload(std::uint32_t index) const { return payload_of(round_->plan(), 0, index, 1); }
  // The member sends a part of its payload, from byte `from` on.
  bool take(std::uint32_t index, std::uint64_t from = 0, std::uint64_t size = UINT32_MAX) {
    const Bytes whole = payload(index);
    const wire::PartT part = part_of(round_->key(), 0, 0, whole, from, size);
    return admission_->take(member(index), index, *Packed(part),
                            ByteSpan(whole).subspan(from, part.payload_bytes));
  }
  bool take_first_half(std::uint32_t index) { return take(index, 0, 300); }
  bool take_second_half(std::uint32_t index) { return take(index, 300); }
  // The member announces that a payload of this size waits to be called.
  void announce(std::uint32_t index, std::uint64_t bytes, std::uint64_t encoded_round = 0,
                std::uint32_t bucket = 0) {
    wire::ReceiptT receipt;
    receipt.id = wire_id_of(round_->key());
    receipt.bucket = bucket;
    receipt.waiting_bytes = bytes;
    receipt.encoded_round = encoded_round;
    admission_->take_announcement(member(index), index, *Packed(receipt));
  }
  // The receipts that the member has been sent since the previous call.
  std::vector<wire::ReceiptT> receipts(std::uint32_t index) {
    auto all = sent<wire::ReceiptT>(member(index));
    std::erase_if(coordinator_.out, [&](const Action& action) {
      const auto* send = std::get_if<Send>(&action);
      return send && send->peer == member(index).conversation.peer();
    });
    return all;
  }
  void close(std::uint32_t bucket) {
    admission_->stage_closed(bucket);
    EXPECT_TRUE(round_->buckets()[bucket]->close(1).ok());
  }
  // A payload of the member, all of whose bytes have arrived in round 1.
  void keep_complete(std::uint32_t index, std::uint32_t bucket) {
    const Bytes whole = payload_of(round_->plan(), bucket, index, 1);
    Reassembly arrived(whole.size());
    arrived.take(0, whole);
    carried_.keep({.agent_id = member(index).agent_id, .bucket = bucket},
                  {.sent_in = {.job = kSmallJob, .round = 1},
                   .encoded_round = 1,
                   .payload = std::move(arrived)});
  }
  bool has(std::uint32_t index) const { return round_->buckets()[0]->has(index); }

  std::unique_ptr<ActiveRound> round_;
  std::optional<UploadBudget> budget_;
  RepeatedBytes repeats_;
  CarriedUploads carried_{1u << 20};
  std::unique_ptr<Admission> admission_;
};

// --- receipts ---

TEST_F(AdmissionTest, APayloadOfOnePartIsTakenAtOnceWithAReceipt) {
  begin(2, kMemoryForOne);
  EXPECT_TRUE(take(0));
  EXPECT_TRUE(has(0));
  EXPECT_EQ(admission_->bytes(), 0u) << "it needs no room";
  const auto answers = receipts(0);
  ASSERT_EQ(answers.size(), 1u);
  EXPECT_EQ(answers[0].received_bytes, payload(0).size());
  EXPECT_EQ(answers[0].payloads_in_flight_max, budget_->window());
}

TEST_F(AdmissionTest, APayloadOfSeveralPartsIsTakenWhenItIsWhole) {
  begin(2, kMemoryForAll);
  EXPECT_FALSE(take_second_half(0));
  EXPECT_TRUE(receipts(0).empty());
  EXPECT_EQ(admission_->bytes(), payload(0).size());
  EXPECT_TRUE(take_first_half(0));
  EXPECT_TRUE(has(0));
  EXPECT_EQ(admission_->bytes(), 0u);
  ASSERT_EQ(receipts(0).size(), 1u);
}

TEST_F(AdmissionTest, APayloadThatTheCodecRefusesCountsAsArrived) {
  begin(2, kMemoryForAll);
  const Bytes garbage(200, 0x55);
  EXPECT_TRUE(
      admission_->take(member(0), 0, *Packed(part_of(round_->key(), 0, 0, garbage)), garbage));
  EXPECT_TRUE(has(0));
  EXPECT_EQ(round_->buckets()[0]->contributors(), 0u);
  EXPECT_EQ(noted("payload_refused").size(), 1u);
}

TEST_F(AdmissionTest, APartOfAPayloadOfAnotherSizeIsRefused) {
  begin(2, kMemoryForAll);
  take_first_half(0);
  const Bytes larger(payload(0).size() + 8, 0);
  const wire::PartT part = part_of(round_->key(), 0, 0, larger, 300, 100);
  EXPECT_FALSE(admission_->take(member(0), 0, *Packed(part), ByteSpan(larger).subspan(300, 100)));
  EXPECT_EQ(noted("frame_refused"), std::vector<std::string>{"mismatch"});
}

// --- memory ---

TEST_F(AdmissionTest, ASenderWithoutMemoryWaitsAndIsCalledWhenThereIsSome) {
  begin(2, kMemoryForOne);
  take_first_half(0);
  EXPECT_FALSE(take_first_half(1));
  const auto waits = receipts(1);
  ASSERT_EQ(waits.size(), 1u);
  EXPECT_EQ(waits[0].payloads_in_flight_max, 0u);
  EXPECT_EQ(waits[0].received_bytes, 0u);
  EXPECT_TRUE(take_second_half(0));
  const auto called = receipts(1);
  ASSERT_EQ(called.size(), 1u);
  EXPECT_EQ(called[0].payloads_in_flight_max, budget_->window());
  EXPECT_EQ(called[0].received_bytes, 0u) << "the part that found no room was dropped";
  take_first_half(1);
  EXPECT_TRUE(take_second_half(1));
}

TEST_F(AdmissionTest, SendersAreCalledInTheOrderInWhichTheyBeganToWait) {
  begin(3, kMemoryForOne);
  take_first_half(0);
  take_first_half(2);
  take_first_half(1);
  receipts(1);
  receipts(2);
  take_second_half(0);
  EXPECT_EQ(receipts(2).size(), 1u);
  EXPECT_TRUE(receipts(1).empty());
}

TEST_F(AdmissionTest, WithCallsALostAgentReleasesItsMemory) {
  begin(2, kMemoryForOne);
  ASSERT_TRUE(budget_->called());
  take_first_half(0);
  take_first_half(1);
  receipts(1);
  admission_->lost(0);
  ASSERT_EQ(receipts(1).size(), 1u);
  EXPECT_FALSE(take_second_half(0)) << "what it had begun is gone";
}

TEST_F(AdmissionTest, WithoutCallsALostAgentContinues) {
  begin(2, kMemoryForAll);
  ASSERT_FALSE(budget_->called());
  take_first_half(0);
  admission_->lost(0);
  EXPECT_EQ(admission_->bytes(), payload(0).size());
  EXPECT_TRUE(take_second_half(0));
}

TEST_F(AdmissionTest, AMemberThatWithdrawsReleasesItsMemory) {
  begin(2, kMemoryForAll);
  take_first_half(0);
  admission_->withdrew(0);
  EXPECT_EQ(admission_->bytes(), 0u);
}

TEST_F(AdmissionTest, AStageThatClosesReleasesItsMemory) {
  begin(2, kMemoryForOne);
  take_first_half(0);
  admission_->stage_closed(0);
  EXPECT_EQ(admission_->bytes(), 0u);
}

TEST_F(AdmissionTest, ALostMemberIsNotCalled) {
  begin(3, kMemoryForOne);
  take_first_half(0);
  take_first_half(1);
  take_first_half(2);
  receipts(2);
  round_->members()[1].session = 0;
  take_second_half(0);
  EXPECT_EQ(receipts(2).size(), 1u);
}

// --- announcements ---

TEST_F(AdmissionTest, AnAnnouncedPayloadIsCalledAtOnceIfThereIsMemory) {
  begin(2, kMemoryForOne);
  announce(0, payload(0).size());
  const auto called = receipts(0);
  ASSERT_EQ(called.size(), 1u);
  EXPECT_EQ(called[0].received_bytes, 0u);
  EXPECT_EQ(called[0].payloads_in_flight_max, budget_->window());
  EXPECT_TRUE(round_->members()[0].part_arrived);
  announce(1, payload(1).size());
  EXPECT_TRUE(receipts(1).empty()) << "the room is promised";
}

TEST_F(AdmissionTest, ARepeatedAnnouncementContinuesTheUpload) {
  begin(2, kMemoryForOne);
  take_first_half(0);
  announce(0, payload(0).size());
  const auto called = receipts(0);
  ASSERT_EQ(called.size(), 1u);
  EXPECT_EQ(called[0].received_bytes, 300u);
}

TEST_F(AdmissionTest, AnAnnouncedPayloadThatHasArrivedIsNotCalled) {
  begin(2, kMemoryForOne);
  take(0);
  receipts(0);
  announce(0, payload(0).size());
  const auto answers = receipts(0);
  ASSERT_EQ(answers.size(), 1u);
  EXPECT_EQ(answers[0].received_bytes, payload(0).size());
}

TEST_F(AdmissionTest, AnAnnouncedPayloadThatIsTooLargeOrHasChangedIsRefused) {
  begin(2, kMemoryForOne);
  announce(0, 1u << 20);
  take_first_half(0);
  announce(0, payload(0).size() + 1);
  EXPECT_EQ(noted("frame_refused"), (std::vector<std::string>{"mismatch", "mismatch"}));
  EXPECT_TRUE(receipts(0).empty());
}

// --- uploads that outlive the round ---

TEST_F(AdmissionTest, AnUploadGoesOnWhenItsStageHasClosed) {
  begin(2, kMemoryForAll);
  take(1);
  take_first_half(0);
  admission_->stage_closed(0);
  EXPECT_TRUE(round_->buckets()[0]->close(1).ok());
  EXPECT_FALSE(take_second_half(0));
  EXPECT_EQ(repeats_.late_up, 0u);
  const auto kept =
      carried_.resume({.agent_id = member(0).agent_id, .bucket = 0}, 1, payload(0).size());
  ASSERT_TRUE(kept);
  EXPECT_TRUE(kept->complete());
}

TEST_F(AdmissionTest, AnUploadMayBeginWhenItsStageHasClosed) {
  begin(2, kMemoryForAll);
  take(1);
  admission_->stage_closed(0);
  EXPECT_TRUE(round_->buckets()[0]->close(1).ok());
  EXPECT_FALSE(take_first_half(0));
  EXPECT_FALSE(take_first_half(1)) << "it has counted";
  EXPECT_TRUE(carried_.is_sending(member(0).agent_id));
  EXPECT_FALSE(carried_.is_sending(member(1).agent_id));
}

TEST_F(AdmissionTest, TheStagesAwaitAnUploadThatIsComplete) {
  begin(2, kMemoryForAll);
  begin_next(2);
  keep_complete(0, 0);
  round_->miss(0, 0);
  announce(0, payload(0).size(), 1);
  ASSERT_EQ(receipts(0).size(), 1u);
  take(1);
  EXPECT_FALSE(round_->complete(*round_->buckets()[0]));
  take(0, payload(0).size() - 1);
  EXPECT_TRUE(has(0));
  EXPECT_TRUE(round_->complete(*round_->buckets()[0]));
}

// All uploads of an agent count together, unless it is always behind.
TEST_F(AdmissionTest, UploadsWaitForTheNextRoundIfAStageHasClosedWithoutOne) {
  policy().bucket_values_max = kSmallValues / 2;
  begin(2, kMemoryForAll);
  begin_next(2);
  const std::size_t bytes = payload(0).size();
  for (std::uint32_t bucket : {0u, 1u}) keep_complete(0, bucket);
  take(1);
  close(0);
  announce(0, bytes, 1, 1);
  EXPECT_EQ(receipts(0).back().payloads_in_flight_max, 0u);
  begin_next(3);
  take(1);
  close(0);
  announce(0, bytes, 1, 1);
  EXPECT_EQ(receipts(0).back().received_bytes, bytes - 1) << "it has waited once";
}

TEST_F(AdmissionTest, ALateMemberIsCalledAlthoughTheOthersUseTheMemory) {
  begin(3, kMemoryForOne);
  take_first_half(1);
  announce(0, payload(0).size());
  EXPECT_TRUE(receipts(0).empty()) << "it is not late";
  round_->miss(0, 0);
  announce(0, payload(0).size());
  ASSERT_EQ(receipts(0).size(), 1u);
  EXPECT_FALSE(take_first_half(0));
  EXPECT_FALSE(take_second_half(0));
  EXPECT_EQ(repeats_.no_memory_up, 0u);
  announce(0, payload(0).size());
  EXPECT_EQ(receipts(0).back().received_bytes, payload(0).size() - 1);
  take(0, payload(0).size() - 1);
  EXPECT_TRUE(has(0)) << "in the same round, because its stage is open";
}

// Round 1 of a codec with two stages. Member 0 sends a standalone payload.
class StandaloneUploads : public AdmissionTest {
 protected:
  void begin_with(std::uint64_t memory) {
    policy().codec = "int8_shared";
    coordinator_.config.incoming_bytes_max = memory;
    open_epoch(2);
    for (std::uint32_t i : {0u, 1u}) member(i).decodes_standalone = true;
    begin_standalone(1);
    standalone_ = *encode_standalone(*bucket().bucket().codec,
                                     {.round = round_->plan().context(bucket().bucket())},
                                     FloatVector(kSmallValues, 2.0f));
  }
  void begin_standalone(std::uint64_t round) {
    round_ = begin_round(membership_, coordinator_.now,
                         make_plan(round, [](PlanRequest& request) { request.standalone = true; }));
    budget_.emplace(coordinator_.config, 2, job_.model->values());
    admission_ = std::make_unique<Admission>(coordinator_, membership_, *round_, *budget_, repeats_,
                                             carried_);
  }
  bool take_standalone(std::uint64_t from, std::uint64_t size) {
    const wire::PartT part = part_of(round_->key(), 0, 2, standalone_, from, size);
    return admission_->take(member(0), 0, *Packed(part),
                            ByteSpan(standalone_).subspan(from, part.payload_bytes));
  }
  void announce_standalone(std::uint64_t encoded_round) {
    wire::ReceiptT receipt;
    receipt.id = wire_id_of(round_->key());
    receipt.stage = 2;
    receipt.waiting_bytes = standalone_.size();
    receipt.encoded_round = encoded_round;
    admission_->take_announcement(member(0), 0, *Packed(receipt));
  }
  // Member 1 sends its payload of the open stage.
  void take_of_other() {
    std::vector<ByteSpan> combined;
    for (const SharedBytes& each : bucket().combined()) combined.emplace_back(*each);
    const Bytes payload = payload_of(round_->plan(), 0, 1, 1, combined);
    const wire::PartT part = part_of(round_->key(), 0, bucket().stage(), payload);
    EXPECT_TRUE(admission_->take(member(1), 1, *Packed(part), payload));
  }
  BucketAggregation& bucket() { return *round_->buckets()[0]; }
  FloatVector result() const {
    const BucketAggregation& finished = *round_->buckets()[0];
    FloatVector sum;
    EXPECT_TRUE(decode_bucket(round_->plan(), finished.committed(1), {}, sum).ok());
    return sum;
  }

  Bytes standalone_;
};

TEST_F(StandaloneUploads, CountWhileAnyStageIsOpen) {
  begin_with(kMemoryForAll);
  EXPECT_FALSE(take_standalone(0, 100));
  EXPECT_TRUE(take_standalone(100, UINT32_MAX)) << "in stage 0";
  EXPECT_EQ(bucket().contributors(), 0u) << "it is no payload of stage 0";
  take_of_other();
  EXPECT_TRUE(round_->complete(bucket()));
  close(0);
  EXPECT_EQ(bucket().contributors(), 1u);
  take_of_other();
  close(0);
  EXPECT_EQ(bucket().in_result().count(), 2u);
  for (const float value : result()) ASSERT_NEAR(value, 3.0f, 0.05f);
}

TEST_F(StandaloneUploads, GoOnWhenAllStagesHaveClosed) {
  begin_with(kMemoryForAll);
  EXPECT_FALSE(take_standalone(0, 100));
  take_of_other();
  close(0);
  EXPECT_FALSE(take_standalone(100, 50));
  take_of_other();
  close(0);
  EXPECT_EQ(bucket().in_result().count(), 1u);
  EXPECT_FALSE(take_standalone(150, UINT32_MAX));
  EXPECT_EQ(repeats_.late_up, 0u);
  begin_standalone(2);
  announce_standalone(1);
  EXPECT_EQ(receipts(0).back().received_bytes, standalone_.size() - 1);
  EXPECT_TRUE(take_standalone(standalone_.size() - 1, 1));
  take_of_other();
  close(0);
  take_of_other();
  close(0);
  for (const float value : result()) ASSERT_NEAR(value, 3.0f, 0.05f);
}

TEST_F(StandaloneUploads, AreTheWholeResultIfNoOtherPayloadArrives) {
  begin_with(kMemoryForAll);
  take_of_other();
  close(0);
  EXPECT_TRUE(take_standalone(0, UINT32_MAX));
  close(0);
  for (const float value : result()) ASSERT_NEAR(value, 2.0f, 0.05f);
}

// --- repeats ---

TEST_F(AdmissionTest, APartOfAPayloadThatIsThereCountsAsLateAndHasAReceipt) {
  begin(2, kMemoryForAll);
  take(0);
  receipts(0);
  EXPECT_FALSE(take(0, 100, 50));
  EXPECT_EQ(repeats_.late_up, 50u);
  ASSERT_EQ(receipts(0).size(), 1u) << "it need not be sent again";
}

TEST_F(AdmissionTest, EarlierBytesCountAsKnown) {
  begin(2, kMemoryForAll);
  take(0, 0, 300);
  take(0, 200, 200);
  EXPECT_EQ(repeats_.known_up, 100u);
  EXPECT_EQ(round_->members()[0].upload.received_bytes, 400);
}

TEST_F(AdmissionTest, BytesThatDidNotFitAreCounted) {
  begin(2, kMemoryForOne);
  take_first_half(0);
  take_first_half(1);
  EXPECT_EQ(repeats_.no_memory_up, 300u);
  EXPECT_EQ(repeats_.late_up + repeats_.known_up, 0u);
}

// --- stages and peers ---

TEST_F(AdmissionTest, AStageThatIsNotOpenYetIsRefused) {
  policy().codec = "thc:bits=4";
  begin(2, kMemoryForAll);
  const Bytes early(100, 0);
  EXPECT_FALSE(admission_->take(member(0), 0, *Packed(part_of(round_->key(), 0, 1, early)), early));
  EXPECT_EQ(noted("frame_refused"), std::vector<std::string>{"mismatch"});
}

TEST_F(AdmissionTest, ByPeersOnlyTheUploaderSendsAResult) {
  policy().collective = wire::Collective::ring;
  begin(2, kMemoryForAll);
  const std::uint32_t uploader = round_->plan().uploader(0);
  EXPECT_FALSE(take(1 - uploader));
  EXPECT_EQ(noted("frame_refused"), std::vector<std::string>{"not_allowed"});
  EXPECT_TRUE(take(uploader));
  EXPECT_TRUE(round_->buckets()[0]->finished());
}

}  // namespace
}  // namespace tributary
