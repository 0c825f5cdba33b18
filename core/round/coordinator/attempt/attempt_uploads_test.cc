// Tests of the upload of results among peers: the members' segments, in any order, their sizes, and
// members that leave before their segments have arrived.
#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "core/round/common/plan/results_hash.h"
#include "core/round/coordinator/attempt/attempt.h"
#include "core/round/coordinator/context/job_testing.h"

namespace tributary {
namespace {

using round_testing::JobTest;
using round_testing::Packed;
using round_testing::part_of;
using round_testing::payload_of;

constexpr std::uint64_t kValues = 10'000;
constexpr std::uint32_t kAgents = 3;

// An attempt by a ring. The results of all buckets but the first have arrived; that one has three
// segments.
class UploadsOfAttempt : public JobTest {
 protected:
  UploadsOfAttempt() : JobTest(round_testing::small_job({{.name = "v", .shape = {kValues}}})) {
    policy().collective = wire::Collective::ring;
    open_epoch(kAgents);
    begin(true);
  }
  void begin(bool divides) {
    auto attempt = Attempt::make(
        job_, membership_, repeats_, carried_,
        {.plan = make_plan(1, [&](PlanRequest& request) { request.divides_results = divides; }),
         .participants = Bitmap(kAgents, true),
         .deadline_ms = policy().deadline_ms,
         .budget = UploadBudget(coordinator_.config, kAgents, job_.model->values()),
         .residual = {}});
    ASSERT_TRUE(attempt.ok()) << attempt.status().text();
    attempt_ = *std::move(attempt);
    result_ = payload_of(plan(), 0, 0, 1);
    for (std::uint32_t other = 1; other < plan().buckets().size(); ++other) {
      EXPECT_TRUE(attempt_->round()
                      .buckets()[other]
                      ->take_segment({}, payload_of(plan(), other, 0, 1))
                      .ok());
    }
  }
  const RoundPlan& plan() const { return attempt_->round().plan(); }
  BucketAggregation& bucket() { return *attempt_->round().buckets()[0]; }
  std::uint64_t hash() const {
    ResultsHash hash;
    const std::vector<SharedBytes> results = {std::make_shared<const Bytes>(result_)};
    hash.add(results);
    for (std::uint32_t other = 1; other < plan().buckets().size(); ++other) {
      hash.add(attempt_->round().buckets()[other]->combined());
    }
    return hash.finish();
  }
  void report(std::uint32_t member) { attempt_->results().add(member, hash()); }

  // The member sends these bytes as this segment of the result.
  bool send(std::uint32_t from, std::uint32_t segment, std::uint32_t segments, ByteSpan bytes) {
    wire::PartT part = part_of(attempt_->key(), 0, 0, bytes);
    part.segment = segment;
    part.segments = segments;
    return attempt_->receive_part(member(from), *Packed(part),
                                  {.sent_as = SentAs::result, .agent_index = from}, bytes);
  }
  bool send(std::uint32_t from, std::uint32_t segment) {
    const ByteRange range = segment_range(result_.size(), kAgents, segment);
    return send(from, segment, kAgents, ByteSpan(result_).subspan(range.first, range.count));
  }
  // The segments of the result that the member was asked for.
  std::vector<std::uint32_t> asked(std::uint32_t index) {
    std::vector<std::uint32_t> segments;
    for (const wire::ReceiptT& receipt : sent<wire::ReceiptT>(member(index))) {
      if (receipt.received_bytes == 0) segments.push_back(receipt.segment);
    }
    return segments;
  }

  RepeatedBytes repeats_;
  CarriedUploads carried_{1u << 20};
  std::unique_ptr<Attempt> attempt_;
  Bytes result_;
};

TEST_F(UploadsOfAttempt, SegmentsInAnyOrderAreTheResult) {
  ASSERT_EQ(plan().segments(result_.size()), kAgents);
  for (std::uint32_t segment : {2u, 0u, 1u}) {
    EXPECT_FALSE(bucket().finished());
    EXPECT_TRUE(send(plan().uploader(0, segment), segment));
  }
  ASSERT_TRUE(bucket().finished());
  EXPECT_EQ(*bucket().combined()[0], result_);
  EXPECT_EQ(bucket().bytes(), result_.size()) << "the segments are not kept beside the result";
  for (std::uint32_t i = 0; i < kAgents; ++i) report(i);
  const auto end = attempt_->close_complete();
  ASSERT_TRUE(end);
  EXPECT_TRUE(end->finished);
}

TEST_F(UploadsOfAttempt, EachMemberSendsItsOwnSegment) {
  std::set<std::uint32_t> uploaders;
  for (std::uint32_t segment = 0; segment < kAgents; ++segment) {
    uploaders.insert(plan().uploader(5, segment));
    EXPECT_EQ(plan().segment_of(5, *plan().rank(plan().uploader(5, segment))), segment);
  }
  EXPECT_EQ(uploaders.size(), kAgents);
  EXPECT_FALSE(send(plan().uploader(0, 1), 0));
  EXPECT_EQ(noted("frame_refused"), std::vector<std::string>{"not_allowed"});
}

TEST_F(UploadsOfAttempt, ASegmentThatCameTwiceCountsAsRepeated) {
  const std::uint32_t uploader = plan().uploader(0, 1);
  EXPECT_TRUE(send(uploader, 1));
  EXPECT_FALSE(send(uploader, 1));
  EXPECT_EQ(repeats_.late_up, segment_range(result_.size(), kAgents, 1).count);
}

TEST_F(UploadsOfAttempt, SegmentsOfWrongSizesEndTheAttempt) {
  const ByteSpan all(result_);
  const std::size_t third = segment_range(result_.size(), kAgents, 0).count;
  send(plan().uploader(0, 0), 0, kAgents, all.first(third - 8));
  send(plan().uploader(0, 1), 1, kAgents, all.subspan(third - 8, third));
  send(plan().uploader(0, 2), 2, kAgents, all.subspan(2 * third - 8));
  EXPECT_EQ(noted("payload_refused"), std::vector<std::string>{"mismatch"});
  const auto end = attempt_->close_complete();
  ASSERT_TRUE(end);
  EXPECT_EQ(end->reason, wire::AbortReason::collective_failed);
}

TEST_F(UploadsOfAttempt, AnotherNumberOfSegmentsEndsTheAttempt) {
  send(plan().uploader(0, 0), 0);
  send(plan().uploader(0, 1), 1, 2, ByteSpan(result_).first(100));
  EXPECT_EQ(noted("payload_refused"), std::vector<std::string>{"mismatch"});
  const auto end = attempt_->close_complete();
  ASSERT_TRUE(end);
  EXPECT_EQ(end->reason, wire::AbortReason::collective_failed);
}

TEST_F(UploadsOfAttempt, MoreSegmentsThanMembersAreRefused) {
  EXPECT_FALSE(send(plan().uploader(0, 0), 0, kAgents + 1, ByteSpan(result_).first(100)));
  EXPECT_EQ(noted("frame_refused"), std::vector<std::string>{"mismatch"});
}

// Member 0 has the segment 0 and leaves after its report.
TEST_F(UploadsOfAttempt, AnotherMemberSendsTheSegmentOfOneThatHasLeft) {
  for (std::uint32_t i = 0; i < kAgents; ++i) report(i);
  send(plan().uploader(0, 1), 1);
  attempt_->lose(plan().uploader(0, 0));
  EXPECT_FALSE(attempt_->close_complete());
  EXPECT_FALSE(attempt_->close_complete());
  const std::uint32_t next = plan().uploader(0, 1);
  EXPECT_EQ(asked(next), std::vector<std::uint32_t>{0}) << "once";
  EXPECT_TRUE(send(next, 0));
  EXPECT_FALSE(attempt_->close_complete());
  EXPECT_TRUE(send(plan().uploader(0, 2), 2));
  const auto end = attempt_->close_complete();
  ASSERT_TRUE(end);
  EXPECT_TRUE(end->finished);
}

TEST_F(UploadsOfAttempt, TheReplacementMayLeaveAsWell) {
  for (std::uint32_t i = 0; i < kAgents; ++i) report(i);
  for (std::uint32_t segment : {0u, 1u}) {
    attempt_->lose(plan().uploader(0, segment));
    EXPECT_FALSE(attempt_->close_complete());
  }
  const std::uint32_t last = plan().uploader(0, 2);
  EXPECT_EQ(asked(last), (std::vector<std::uint32_t>{0, 1}));
  for (std::uint32_t segment = 0; segment < kAgents; ++segment) EXPECT_TRUE(send(last, segment));
  const auto end = attempt_->close_complete();
  ASSERT_TRUE(end);
  EXPECT_TRUE(end->finished);
}

TEST_F(UploadsOfAttempt, AMemberThatReportsLaterReplacesOneThatHasLeft) {
  report(0);
  attempt_->lose(0);
  EXPECT_FALSE(attempt_->close_complete()) << "the others have yet to report";
  EXPECT_TRUE(asked(1).empty() && asked(2).empty());
  report(2);
  EXPECT_FALSE(attempt_->close_complete());
  EXPECT_EQ(asked(2).size(), 1u);
}

TEST_F(UploadsOfAttempt, WithoutAnyMemberLeftItEnds) {
  for (std::uint32_t i = 0; i < kAgents; ++i) report(i);
  for (std::uint32_t i = 0; i < kAgents; ++i) attempt_->lose(i);
  const auto end = attempt_->close_complete();
  ASSERT_TRUE(end);
  EXPECT_EQ(end->reason, wire::AbortReason::collective_failed);
}

TEST_F(UploadsOfAttempt, WithAnEarlierBuildAMemberSendsTheWholeResult) {
  begin(false);
  EXPECT_EQ(plan().segments(result_.size()), 1u);
  EXPECT_TRUE(send(plan().uploader(0), 0, 1, result_));
  EXPECT_TRUE(bucket().finished());
  EXPECT_FALSE(send(plan().uploader(0, 1), 1)) << "no segments in this plan";
}

}  // namespace
}  // namespace tributary
