// Tests of payloads that arrive in parts, and of the order in which senders are called for a
// limited memory.
#include "core/round/coordinator/uploads/incoming.h"

#include <gtest/gtest.h>

namespace tributary {
namespace {

constexpr std::uint64_t kIncomingBytes = 100;

IncomingKey of(std::uint32_t member) { return {.bucket = 0, .member = member}; }

TEST(Reassembly, TakesPartsOfAnySizeInAnyOrderAndMoreThanOnce) {
  Bytes whole(100);
  for (std::size_t i = 0; i < whole.size(); ++i) whole[i] = static_cast<std::uint8_t>(i);
  Reassembly place(whole.size());
  const auto take = [&](std::size_t offset, std::size_t bytes) {
    return place.take(offset, ByteSpan(whole).subspan(offset, bytes));
  };
  EXPECT_EQ(take(90, 10), 10u);
  EXPECT_EQ(take(0, 30), 30u);
  EXPECT_EQ(take(0, 30), 0u);
  EXPECT_EQ(take(20, 40), 30u);
  EXPECT_FALSE(place.complete());
  EXPECT_EQ(place.from_start(), 60u);
  EXPECT_EQ(take(60, 30), 30u);
  EXPECT_TRUE(place.complete());
  EXPECT_EQ(place.release(), whole);
}

TEST(Incoming, AdmitsUploadsThatFitAndCallsTheOthersInTurn) {
  Incoming incoming(250);
  EXPECT_NE(incoming.find_or_admit(of(0), kIncomingBytes), nullptr);
  EXPECT_NE(incoming.find_or_admit(of(1), kIncomingBytes), nullptr);
  EXPECT_EQ(incoming.find_or_admit(of(2), kIncomingBytes), nullptr);
  EXPECT_EQ(incoming.find_or_admit(of(3), kIncomingBytes), nullptr);
  EXPECT_EQ(incoming.find_or_admit(of(2), kIncomingBytes), nullptr)
      << "asking again changes nothing";
  EXPECT_EQ(incoming.bytes(), 200u);
  EXPECT_FALSE(incoming.call_next());
  incoming.erase(of(1));
  EXPECT_EQ(incoming.call_next(), of(2));
  EXPECT_NE(incoming.find(of(2)), nullptr) << "a payload that is called has its room";
  EXPECT_FALSE(incoming.call_next()) << "and no other is promised the same";
  incoming.erase_member(0);
  EXPECT_EQ(incoming.call_next(), of(3));
  EXPECT_EQ(incoming.bytes(), 200u);
}

TEST(Incoming, OneThatIsLargerThanTheMemoryStillGetsIn) {
  Incoming incoming(10);
  EXPECT_NE(incoming.find_or_admit(of(0), kIncomingBytes), nullptr);
  EXPECT_EQ(incoming.find_or_admit(of(1), kIncomingBytes), nullptr);
  incoming.erase_stage(0);
  EXPECT_EQ(incoming.bytes(), 0u);
  EXPECT_FALSE(incoming.call_next()) << "the bucket is closed: no payload waits for it";
}

}  // namespace
}  // namespace tributary
