// Tests of the measured rate of an upload and of the expected size of the remaining ones. Pauses of
// the agent must not count as a slow link.
#include "core/round/coordinator/uploads/upload_progress.h"

#include <gtest/gtest.h>

#include <memory>
#include <utility>
#include <vector>

#include "core/round/common/plan/plan_builder.h"
#include "core/round/common/plan/small_job_testing.h"
#include "core/round/common/session/conversation.h"

namespace tributary {
namespace {

constexpr std::uint64_t kUploadPart = 16u << 10;
constexpr TimeNs kUploadRoundTrip = 20 * kNsPerMs;

// Parts of one payload, at this distance.
void parts(UploadRate& rate, TimeNs& now, int count, TimeNs interval, TimeNs round_trip,
           bool continues = true) {
  for (int i = 0; i < count; ++i) {
    rate.part(now += interval, kUploadPart, continues, round_trip);
  }
}

TEST(UploadRate, IsThatOfTheBytesBehindTheFirstPart) {
  UploadRate rate;
  TimeNs now = 7'000 * kNsPerMs;
  parts(rate, now, 4, 524 * kNsPerMs, kUploadRoundTrip);
  EXPECT_EQ(rate.bytes_per_s(), 0) << "one span may be a chance";
  parts(rate, now, 1, 524 * kNsPerMs, kUploadRoundTrip);
  EXPECT_NEAR(rate.bytes_per_s(), kUploadPart / 0.524, 1);
}

TEST(UploadRate, TakesTwoSecondsOfAFastLink) {
  UploadRate rate;
  TimeNs now = 0;
  parts(rate, now, 150, 10 * kNsPerMs, 0);
  EXPECT_EQ(rate.bytes_per_s(), 0);
  parts(rate, now, 51, 10 * kNsPerMs, 0);
  EXPECT_NEAR(rate.bytes_per_s(), kUploadPart / 0.01, 1);
}

TEST(UploadRate, AMomentOfABusyMachineIsNotTheLinks) {
  UploadRate rate;
  TimeNs now = 0;
  for (int i = 0; i < 40; ++i) {
    parts(rate, now, 1, (i % 8 == 4 ? 1'000 : 300) * kNsPerMs, kUploadRoundTrip);
    if (rate.bytes_per_s() == 0) continue;
    EXPECT_NEAR(rate.bytes_per_s(), kUploadPart / 0.3, 1);
  }
  EXPECT_GT(rate.bytes_per_s(), 0);
}

TEST(UploadRate, FollowsTheLink) {
  UploadRate rate;
  TimeNs now = 0;
  parts(rate, now, 10, 500 * kNsPerMs, kUploadRoundTrip);
  parts(rate, now, 10, 250 * kNsPerMs, kUploadRoundTrip);
  EXPECT_NEAR(rate.bytes_per_s(), kUploadPart / 0.25, 1);
}

// One part per round trip is no measurement of a satellite link.
TEST(UploadRate, WaitsUntilTheSenderKnowsALongLink) {
  constexpr TimeNs kLong = 600 * kNsPerMs;
  UploadRate rate;
  TimeNs now = 0;
  parts(rate, now, 6, kLong, kLong);
  EXPECT_EQ(rate.bytes_per_s(), 0);
  parts(rate, now, 200, 50 * kNsPerMs, kLong);
  EXPECT_NEAR(rate.bytes_per_s(), kUploadPart / 0.05, kUploadPart);
}

TEST(UploadRate, APauseBetweenPayloadsIsNotTheLinks) {
  UploadRate rate;
  TimeNs now = 0;
  parts(rate, now, 5, 10 * kNsPerMs, 0);
  parts(rate, now, 1, 20'000 * kNsPerMs, 0, false);
  parts(rate, now, 220, 10 * kNsPerMs, 0);
  EXPECT_NEAR(rate.bytes_per_s(), kUploadPart / 0.01, 1);
}

TEST(UploadRate, APauseBehindTheFirstPartIsNotTheLinks) {
  UploadRate rate;
  TimeNs now = 0;
  parts(rate, now, 1, 10 * kNsPerMs, 0);
  parts(rate, now, 1, 20'000 * kNsPerMs, 0, false);
  parts(rate, now, 220, 10 * kNsPerMs, 0);
  EXPECT_NEAR(rate.bytes_per_s(), kUploadPart / 0.01, 1);
}

TEST(UploadRate, PayloadsOfOnePartEachAreMeasuredToo) {
  UploadRate rate;
  TimeNs now = 0;
  parts(rate, now, 5, 4'000 * kNsPerMs, kUploadRoundTrip, false);
  EXPECT_NEAR(rate.bytes_per_s(), kUploadPart / 4.0, 1);
}

TEST(UploadRate, TimeWithoutASessionIsNotTheLinks) {
  UploadRate rate;
  TimeNs now = 0;
  parts(rate, now, 5, 500 * kNsPerMs, 0);
  rate.interrupted();
  now += 60'000 * kNsPerMs;
  EXPECT_NEAR(rate.bytes_per_s(), kUploadPart / 0.5, 1) << "the last that was measured";
  parts(rate, now, 9, 250 * kNsPerMs, 0);
  EXPECT_NEAR(rate.bytes_per_s(), kUploadPart / 0.25, 1);
}

// Buckets of 1000 and 3000 values with one codec, and between them an exact one of 500 values.
std::shared_ptr<const RoundPlan> plan_with_buckets() {
  wire::JobT job = round_testing::small_job({{.name = "first", .shape = {1'000}},
                                             {.name = "mean", .shape = {500}},
                                             {.name = "last", .shape = {3'000}}});
  round_testing::make_exact_buffer(job, 1);
  const std::shared_ptr<const JobModel> model = round_testing::job_model(std::move(job));
  CodecCache cache;
  const auto wire_plan = build_plan(*model, {.codec = "int8"}, cache,
                                    {.key = {.job = 1, .round = 1, .epoch = 1, .attempt = 0},
                                     .participants = Bitmap(2, true),
                                     .weights = {1, 1},
                                     .payload_bytes = 1u << 20});
  EXPECT_TRUE(wire_plan.ok()) << wire_plan.status().text();
  const auto plan = RoundPlan::make(*wire_plan, *model, cache);
  EXPECT_TRUE(plan.ok()) << plan.status().text();
  EXPECT_EQ((*plan)->buckets().size(), 3u);
  return *plan;
}

// The payload sizes of two agents in the plan above.
class UploadSizesTest : public testing::Test {
 protected:
  // The first part of a payload of this bucket and size arrives.
  void begins(UploadProgress& progress, std::uint32_t bucket, std::uint64_t bytes) const {
    sizes_.take(progress, {.bucket = bucket, .bytes = 100, .stage_bytes = bytes}, 0, 0);
  }
  double expected(const UploadProgress& progress) const {
    std::vector<UploadProgress::Sizes> all(sizes_.groups());
    for (const UploadProgress* one : {&first_, &second_}) sizes_.add_to(all, *one);
    return sizes_.update_bytes(progress, all);
  }

  const std::shared_ptr<const RoundPlan> plan_ = plan_with_buckets();
  const UploadSizes sizes_{*plan_};
  UploadProgress first_;
  UploadProgress second_;
};

TEST_F(UploadSizesTest, AGroupWithoutKnownSizesIsNotCounted) { EXPECT_EQ(expected(first_), 0); }

TEST_F(UploadSizesTest, BucketsOfOneCodecAreTakenToBeAlike) {
  begins(first_, 0, 1'100);
  EXPECT_NEAR(expected(first_), 4'400, 1e-6) << "and nothing of the other codec yet";
  begins(first_, 1, 2'050);
  EXPECT_NEAR(expected(first_), 6'450, 1e-6);
  begins(first_, 2, 3'050);
  EXPECT_NEAR(expected(first_), 1'100 + 2'050 + 3'050, 1e-6);
}

TEST_F(UploadSizesTest, LaterPartsChangeNoSize) {
  begins(first_, 0, 1'100);
  sizes_.take(first_, {.bucket = 0, .offset = 100, .bytes = 100, .stage_bytes = 1'100}, 0, 0);
  EXPECT_NEAR(expected(first_), 4'400, 1e-6);
}

TEST_F(UploadSizesTest, AnAgentWithoutPayloadsIsTakenToBeLikeTheOthers) {
  begins(first_, 0, 1'100);
  EXPECT_NEAR(expected(second_), 4'400, 1e-6);
  begins(second_, 0, 550);
  EXPECT_NEAR(expected(second_), 2'200, 1e-6) << "it may keep less than they do";
}

}  // namespace
}  // namespace tributary
