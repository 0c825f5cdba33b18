// Tests of the data of one round at an agent: aggregates in parts, their hashes, and the counters
// that the report contains.
#include "core/round/agent/round/agent_round.h"

#include "core/base/bytes/checksum.h"
#include "core/codec/chunks.h"
#include "core/codec/cuda/codec_device.h"
#include "core/round/agent/replica/agent_parts_testing.h"

namespace tributary {
namespace {

using round_testing::AgentParts;
using round_testing::notes;
using round_testing::Packed;

constexpr std::uint64_t kStageBytes = 16;

// Round 1 at an agent that only follows it. All aggregates are zeros of one size.
class SomeRound : public testing::Test {
 protected:
  void SetUp() override {
    agent_.have_model();
    round_ = std::make_unique<AgentRound>(agent_.round_plan(1));
  }
  Result<bool> take(std::uint32_t bucket, std::uint64_t offset, std::size_t size,
                    std::uint32_t stage = 0) {
    wire::PartT part;
    part.id = std::make_unique<wire::RoundId>(wire_id(round_->key()));
    part.bucket = bucket;
    part.stage = static_cast<std::uint8_t>(stage);
    part.stage_bytes = kStageBytes;
    part.offset = offset;
    part.payload_bytes = static_cast<std::uint32_t>(size);
    return round_->take(*Packed(part), Bytes(size, 0));
  }
  wire::RoundOutcomeT outcome(std::uint64_t result_hash) {
    wire::RoundOutcomeT made;
    made.outcomes.push_back(std::make_unique<wire::OutcomeT>());
    made.outcomes[0]->bucket = 0;
    made.outcomes[0]->result_hash = result_hash;
    return made;
  }

  AgentParts agent_;
  std::unique_ptr<AgentRound> round_;
};

TEST_F(SomeRound, CollectsAnAggregateInParts) {
  EXPECT_EQ(round_->missing(0)->received_bytes, 0u);
  ASSERT_TRUE(take(0, 0, 10).ok());
  EXPECT_EQ(round_->missing(0)->received_bytes, 10u);
  const Result<bool> whole = take(0, 10, kStageBytes - 10);
  ASSERT_TRUE(whole.ok());
  EXPECT_TRUE(*whole);
  EXPECT_FALSE(round_->missing(0));
  EXPECT_TRUE(round_->missing(1));
  EXPECT_EQ(round_->bytes(), kStageBytes);
  EXPECT_FALSE(*take(0, 0, 10)) << "a repeat";
}

TEST_F(SomeRound, RefusesPartsThatThePlanHasNoPlaceFor) {
  EXPECT_FALSE(take(2, 0, 10).ok()) << "no such bucket";
  EXPECT_FALSE(take(0, 0, 10, 3).ok()) << "no such stage";
}

TEST_F(SomeRound, DropsAnAggregateThatIsNotTheCommits) {
  ActionList out;
  EXPECT_FALSE(round_->has_all(outcome(1), out)) << "it has not come";
  EXPECT_TRUE(out.take().empty());
  ASSERT_TRUE(take(0, 0, kStageBytes).ok());
  EXPECT_TRUE(round_->has_all(outcome(hash64(Bytes(kStageBytes, 0))), out));
  EXPECT_FALSE(round_->has_all(outcome(1), out));
  EXPECT_EQ(notes(out.take(), "frame_refused"), 1);
  EXPECT_TRUE(round_->missing(0));
}

TEST_F(SomeRound, CountsEncodedBytesByCodec) {
  const std::vector<PlannedBucket>& buckets = round_->plan().buckets();
  ASSERT_EQ(buckets.size(), 2u);
  ThreadPool pool(4);
  round_->count_encoded(buckets[0], {.pool = &pool}, false);
  round_->count_encoded(buckets[1], {.pool = &pool}, true);
  const wire::MechanismsT& facts = round_->mechanisms();
  EXPECT_EQ(facts.values_encoded, buckets[0].values + buckets[1].values);
  EXPECT_EQ(facts.buckets_with_view, 1u);
  EXPECT_EQ(facts.encode_threads, 1u) << "the buckets are too small to be divided";
  ASSERT_EQ(facts.buckets_by_codec.size(), 1u);
  EXPECT_EQ(facts.buckets_by_codec[0]->of, buckets[0].codec->spec());
  EXPECT_EQ(facts.buckets_by_codec[0]->count, 2u);
  PlannedBucket large = buckets[0];
  large.values = 3 * kChunkValues;
  round_->count_encoded(large, {.pool = &pool}, false);
  EXPECT_EQ(facts.encode_threads, 3u);
}

TEST_F(SomeRound, CountsBucketsByTheDeviceThatEncodedThem) {
  const std::vector<PlannedBucket>& buckets = round_->plan().buckets();
  const auto device = emulated::make_codec_device();
  const Execution execution = {.device = device.get()};
  round_->count_encoded(buckets[0], execution, false);
  round_->count_encoded(buckets[1], execution, false);
  round_->cost().encoding.buckets_on_device.insert(buckets[1].index);  // in a later stage
  round_->count_devices(execution);
  const auto& tallies = round_->mechanisms().buckets_by_device;
  ASSERT_EQ(tallies.size(), 2u);
  EXPECT_EQ(tallies[0]->of, "host");
  EXPECT_EQ(tallies[1]->of, "emulated");
  EXPECT_EQ(tallies[1]->count, 1u);
}

TEST_F(SomeRound, CountsTheMatricesOfCodecsThatNeedLayers) {
  PlannedBucket bucket = round_->plan().buckets()[0];
  bucket.layers = {{0, 10, 1}, {10, 12, 4}, {22, 8, 2}};
  round_->count_encoded(bucket, {}, false);
  EXPECT_EQ(round_->mechanisms().buckets_of_layers, 0u);
  EXPECT_EQ(round_->mechanisms().matrices, 0u);
  CodecCache codecs;
  bucket.codec = *codecs.get("powersgd");
  round_->count_encoded(bucket, {}, false);
  EXPECT_EQ(round_->mechanisms().buckets_of_layers, 1u);
  EXPECT_EQ(round_->mechanisms().matrices, 2u);
}

TEST_F(SomeRound, HasARankOnlyIfItTakesPart) {
  EXPECT_FALSE(round_->rank());
  round_->take_part_as(1);
  EXPECT_EQ(round_->rank(), 1u);
}

TEST_F(SomeRound, IsEncodedWhereEveryBucketIsEncodedOrClosed) {
  EXPECT_FALSE(round_->all_encoded());
  round_->work()[0].encoded = 1;
  EXPECT_FALSE(round_->all_encoded());
  ASSERT_TRUE(take(1, 0, kStageBytes).ok());
  EXPECT_TRUE(round_->all_encoded());
}

}  // namespace
}  // namespace tributary
