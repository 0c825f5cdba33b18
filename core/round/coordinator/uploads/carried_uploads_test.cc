// Tests of incomplete payloads that are carried into the next round, within a limit.
#include "core/round/coordinator/uploads/carried_uploads.h"

#include <gtest/gtest.h>

#include "core/round/common/machine/packed_testing.h"
#include "core/round/common/machine/part_message.h"

namespace tributary {
namespace {

using round_testing::Packed;

constexpr IncomingKey kUpload = {.bucket = 1, .member = 2};
constexpr RoundKey kSentIn = {.job = 1, .round = 5, .epoch = 1, .attempt = 0};

// A payload of 100 bytes of which the first `bytes` have arrived.
Reassembly begun(std::uint64_t bytes) {
  Reassembly payload(100);
  payload.take(0, Bytes(bytes, 7));
  return payload;
}

bool take(CarriedUploads& carried, const RoundKey& key, std::uint64_t offset, std::uint64_t bytes) {
  const Bytes part(bytes, 7);
  return carried.take(
      kUpload, *Packed(*describe_part(key, 1, 0, 100, offset, {.owner = nullptr, .bytes = part})),
      part);
}

TEST(CarriedUploads, ContinueWithThePartsThatArriveLate) {
  CarriedUploads carried(1'000);
  carried.keep(kUpload, kSentIn, 3, begun(40));
  EXPECT_EQ(carried.bytes(), 100u);
  EXPECT_TRUE(take(carried, kSentIn, 40, 20));
  RoundKey other = kSentIn;
  other.round = 4;
  EXPECT_FALSE(take(carried, other, 60, 20)) << "of an attempt that was over before";
  EXPECT_FALSE(carried.resume({.bucket = 1, .member = 1}, 3, 100));
  EXPECT_FALSE(carried.resume(kUpload, 4, 100)) << "encoded anew";
  EXPECT_FALSE(carried.resume(kUpload, 3, 101)) << "of another size";
  const auto payload = carried.resume(kUpload, 3, 100);
  ASSERT_TRUE(payload);
  EXPECT_EQ(payload->from_start(), 60u);
  EXPECT_EQ(carried.bytes(), 0u);
  EXPECT_FALSE(carried.resume(kUpload, 3, 100)) << "it was handed back";
}

TEST(CarriedUploads, HaveALimit) {
  CarriedUploads carried(150);
  carried.keep(kUpload, kSentIn, 3, begun(40));
  carried.keep({.bucket = 0, .member = 0}, kSentIn, 3, begun(40));
  EXPECT_EQ(carried.bytes(), 100u);
  EXPECT_FALSE(carried.resume({.bucket = 0, .member = 0}, 3, 100));
  carried.keep(kUpload, kSentIn, 4, begun(10));
  EXPECT_EQ(carried.bytes(), 100u) << "one upload replaces another";
  EXPECT_TRUE(carried.resume(kUpload, 4, 100));
  carried.keep(kUpload, kSentIn, 4, begun(10));
  carried.clear();
  EXPECT_EQ(carried.bytes(), 0u);
}

}  // namespace
}  // namespace tributary
