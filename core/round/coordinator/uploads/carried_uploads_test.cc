// Tests of incomplete payloads that are carried into the next round, within a limit.
#include "core/round/coordinator/uploads/carried_uploads.h"

#include <gtest/gtest.h>

#include <string>

#include "core/round/common/machine/packed_testing.h"
#include "core/round/common/machine/part_message.h"

namespace tributary {
namespace {

using round_testing::Packed;

constexpr RoundKey kSentIn = {.job = 1, .round = 5, .epoch = 1, .attempt = 0};
constexpr RoundKey kLater = {.job = 1, .round = 6, .epoch = 1, .attempt = 0};

CarriedUploads::Key upload_of(const std::string& agent_id) {
  return {.agent_id = agent_id, .bucket = 1};
}
// A payload of 100 bytes of which the first `bytes` have arrived.
CarriedUploads::Begun begun(std::uint64_t bytes, std::uint64_t encoded_round) {
  CarriedUploads::Begun begun{
      .sent_in = kSentIn, .encoded_round = encoded_round, .payload = Reassembly(100)};
  begun.payload.take(0, Bytes(bytes, 7));
  return begun;
}

// A part of a payload of 100 bytes, or as many as `size`.
bool take(CarriedUploads& carried, const RoundKey& key, std::uint64_t offset, std::uint64_t bytes,
          std::uint64_t size = 100) {
  const Bytes part(bytes, 7);
  return carried.take(
      "a", *Packed(*describe_part(key, 1, 0, size, offset, {.owner = nullptr, .bytes = part})),
      part);
}

TEST(CarriedUploads, ContinueWithThePartsThatArriveLate) {
  CarriedUploads carried(1'000);
  EXPECT_FALSE(take(carried, kSentIn, 40, 20));
  carried.keep(upload_of("a"), begun(40, 3));
  EXPECT_EQ(carried.bytes(), 100u);
  EXPECT_TRUE(take(carried, kSentIn, 40, 20));
  EXPECT_FALSE(take(carried, kLater, 60, 20)) << "of an attempt that has not closed";
  EXPECT_FALSE(carried.resume(upload_of("b"), 3, 100));
  EXPECT_FALSE(carried.resume(upload_of("a"), 4, 100)) << "encoded anew";
  EXPECT_FALSE(carried.resume(upload_of("a"), 3, 101)) << "of another size";
  const auto payload = carried.resume(upload_of("a"), 3, 100);
  ASSERT_TRUE(payload);
  EXPECT_EQ(payload->from_start(), 60u);
  EXPECT_EQ(carried.bytes(), 0u);
  EXPECT_FALSE(carried.resume(upload_of("a"), 3, 100)) << "it was handed back";
}

TEST(CarriedUploads, BeginWithAFirstPartThatArrivesLate) {
  CarriedUploads carried(1'000);
  carried.await(upload_of("a"), 5, 0, 100);
  EXPECT_EQ(carried.bytes(), 0u);
  EXPECT_FALSE(carried.is_sending("a"));
  EXPECT_FALSE(take(carried, kSentIn, 0, 10, 101)) << "larger than the plan allows";
  EXPECT_TRUE(take(carried, kSentIn, 0, 60));
  EXPECT_TRUE(carried.is_sending("a"));
  EXPECT_FALSE(carried.is_sending("A"));
  EXPECT_TRUE(take(carried, kSentIn, 60, 40));
  const auto payload = carried.resume(upload_of("a"), 5, 100);
  ASSERT_TRUE(payload);
  EXPECT_TRUE(payload->complete());
}

// A round that closes meanwhile does not know whether the agent has sent anything for it.
TEST(CarriedUploads, GoOnUntilALaterOneBegins) {
  CarriedUploads carried(1'000);
  carried.keep(upload_of("a"), begun(40, 5));
  carried.await(upload_of("a"), 6, 0, 100);
  EXPECT_TRUE(take(carried, kSentIn, 40, 20));
  EXPECT_TRUE(take(carried, kLater, 0, 10));
  EXPECT_FALSE(take(carried, kSentIn, 60, 20));
  EXPECT_EQ(carried.bytes(), 100u);
  EXPECT_FALSE(carried.resume(upload_of("a"), 5, 100));
  EXPECT_EQ(carried.resume(upload_of("a"), 6, 100)->from_start(), 10u);
}

// A first part may take longer than several rounds.
TEST(CarriedUploads, BeginWithAPartOfAnyRoundThatHasClosed) {
  CarriedUploads carried(1'000);
  carried.await(upload_of("a"), 5, 0, 100);
  carried.await(upload_of("a"), 6, 0, 100);
  EXPECT_TRUE(take(carried, kSentIn, 0, 10));
  EXPECT_EQ(carried.resume(upload_of("a"), 5, 100)->from_start(), 10u);
  EXPECT_FALSE(take(carried, kSentIn, 10, 10)) << "it was handed back";
  EXPECT_TRUE(take(carried, kLater, 0, 10));
}

// A complete upload only waits to be counted.
TEST(CarriedUploads, AreSentUntilAllAreComplete) {
  CarriedUploads carried(1'000);
  carried.keep({.agent_id = "a", .bucket = 0}, begun(40, 3));
  EXPECT_TRUE(carried.is_sending("a"));
  carried.keep({.agent_id = "a", .bucket = 0}, begun(100, 3));
  EXPECT_FALSE(carried.is_sending("a"));
  EXPECT_TRUE(carried.find({.agent_id = "a", .bucket = 0}));
  carried.await({.agent_id = "a", .bucket = 1}, 3, 0, 100);
  EXPECT_TRUE(carried.is_sending("a")) << "nothing of the other bucket has arrived";
}

TEST(CarriedUploads, HaveALimit) {
  CarriedUploads carried(150);
  carried.keep(upload_of("a"), begun(40, 3));
  carried.keep(upload_of("b"), begun(40, 3));
  EXPECT_EQ(carried.bytes(), 100u);
  EXPECT_FALSE(carried.resume(upload_of("b"), 3, 100));
  carried.keep(upload_of("a"), begun(10, 4));
  EXPECT_EQ(carried.bytes(), 100u) << "one upload replaces another";
  EXPECT_TRUE(carried.resume(upload_of("a"), 4, 100));
  EXPECT_EQ(carried.bytes(), 0u);
}

TEST(CarriedUploads, ShowWhatHasArrivedAndWhatFits) {
  CarriedUploads carried(150);
  EXPECT_FALSE(carried.find(upload_of("a")));
  carried.keep(upload_of("a"), begun(40, 3));
  ASSERT_TRUE(carried.find(upload_of("a")));
  EXPECT_EQ(carried.find(upload_of("a"))->sent_in, kSentIn);
  carried.await(upload_of("b"), 5, 0, 100);
  EXPECT_FALSE(carried.find(upload_of("b")));
  EXPECT_FALSE(carried.is_sending("b")) << "nothing has arrived";
  EXPECT_TRUE(carried.fits(50));
  EXPECT_FALSE(carried.fits(51));
}

TEST(CarriedUploads, ArePostponedFromOneRoundToTheNextUntilTheyCount) {
  CarriedUploads carried(1'000);
  EXPECT_TRUE(carried.postpone("a", 5));
  EXPECT_TRUE(carried.postpone("a", 5)) << "each of them";
  EXPECT_FALSE(carried.postpone("a", 6));
  EXPECT_TRUE(carried.postpone("b", 6));
  carried.counted("a", 0);
  EXPECT_TRUE(carried.postpone("a", 7));
}

TEST(CarriedUploads, MayBePostponedAgainAfterTheirAgentHasLeft) {
  CarriedUploads carried(1'000);
  EXPECT_TRUE(carried.postpone("a", 5));
  EXPECT_TRUE(carried.postpone("b", 5));
  carried.keep_only([](const std::string& agent) { return agent != "a"; });
  EXPECT_TRUE(carried.postpone("a", 6));
  EXPECT_FALSE(carried.postpone("b", 6)) << "it has stayed";
}

TEST(CarriedUploads, AreDroppedWithTheirAgentOrWhenTheBucketCounts) {
  CarriedUploads carried(1'000);
  for (const char* const agent : {"a", "b", "c"}) {
    carried.keep(upload_of(agent), begun(40, 3));
  }
  carried.forget("a");
  EXPECT_FALSE(carried.resume(upload_of("a"), 3, 100));
  carried.counted("b", 0);
  EXPECT_EQ(carried.bytes(), 200u);
  carried.counted("b", 1);
  EXPECT_EQ(carried.bytes(), 100u);
  carried.keep_only([](const std::string& agent) { return agent != "c"; });
  EXPECT_EQ(carried.bytes(), 0u);
}

}  // namespace
}  // namespace tributary
