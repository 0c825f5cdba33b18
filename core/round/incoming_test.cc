#include "core/round/incoming.h"

#include <gtest/gtest.h>

namespace tributary {
namespace {

constexpr PartLayout kLayout{.bytes = 100, .part_bytes = 30};

IncomingKey of(std::uint32_t member) { return {.bucket = 0, .member = member}; }

TEST(Reassembly, TakesPartsInAnyOrderAndMoreThanOnce) {
  Bytes whole(100);
  for (std::size_t i = 0; i < whole.size(); ++i) whole[i] = static_cast<std::uint8_t>(i);
  Reassembly place(kLayout);
  for (const std::uint32_t part : {3u, 0u, 0u, 2u}) {
    place.take(part, ByteSpan(whole).subspan(kLayout.offset(part), kLayout.size(part)));
  }
  EXPECT_FALSE(place.complete());
  EXPECT_EQ(place.received(), 3u);
  ASSERT_EQ(place.missing(false, 8).size(), 1u);
  EXPECT_EQ(place.missing(false, 8)[0], wire::Range(1, 1));
  place.take(1, ByteSpan(whole).subspan(30, 30));
  EXPECT_TRUE(place.complete());
  EXPECT_EQ(place.release(), whole);
}

TEST(Reassembly, MissingBehindTheHighestOnlyWhenAllIsAsked) {
  Reassembly place(kLayout);
  const Bytes part(30);
  place.take(0, part);
  EXPECT_TRUE(place.missing(false, 8).empty());
  ASSERT_EQ(place.missing(true, 8).size(), 1u);
  EXPECT_EQ(place.missing(true, 8)[0], wire::Range(1, 3));
}

TEST(Incoming, AdmitsWhatFitsAndCallsTheOthersInTurn) {
  Incoming incoming(250);
  EXPECT_NE(incoming.find_or_admit(of(0), kLayout), nullptr);
  EXPECT_NE(incoming.find_or_admit(of(1), kLayout), nullptr);
  EXPECT_EQ(incoming.find_or_admit(of(2), kLayout), nullptr);
  EXPECT_EQ(incoming.find_or_admit(of(3), kLayout), nullptr);
  EXPECT_EQ(incoming.find_or_admit(of(2), kLayout), nullptr) << "asking again changes nothing";
  EXPECT_EQ(incoming.bytes(), 200u);
  EXPECT_FALSE(incoming.call_next());
  incoming.erase(of(1));
  EXPECT_EQ(incoming.call_next(), of(2));
  EXPECT_NE(incoming.find(of(2)), nullptr) << "who is called has its room";
  EXPECT_FALSE(incoming.call_next()) << "and nobody else is promised the same";
  incoming.erase_member(0);
  EXPECT_EQ(incoming.call_next(), of(3));
  EXPECT_EQ(incoming.bytes(), 200u);
}

TEST(Incoming, OneThatIsLargerThanAllRoomStillGetsIn) {
  Incoming incoming(10);
  EXPECT_NE(incoming.find_or_admit(of(0), kLayout), nullptr);
  EXPECT_EQ(incoming.find_or_admit(of(1), kLayout), nullptr);
  incoming.erase_bucket(0);
  EXPECT_EQ(incoming.bytes(), 0u);
  EXPECT_FALSE(incoming.call_next()) << "the bucket is closed: nobody waits for it";
}

}  // namespace
}  // namespace tributary
