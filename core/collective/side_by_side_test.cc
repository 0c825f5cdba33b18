// Tests of payloads that are joined into one piece and split again.
#include "core/collective/side_by_side.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tributary {
namespace {

using ::testing::ElementsAreArray;

TEST(SideBySide, JoinedPayloadsAreSplitAgain) {
  const std::vector<Bytes> payloads = {Bytes(3, 1), Bytes(8, 2), Bytes(), Bytes(17, 4)};
  const std::vector<ByteSpan> spans(payloads.begin(), payloads.end());
  const Bytes joined = join_payloads(spans);
  const auto parts = split_payloads(joined, 4);
  ASSERT_TRUE(parts.ok()) << parts.status().text();
  for (std::size_t i = 0; i < payloads.size(); ++i) {
    EXPECT_THAT((*parts)[i], ElementsAreArray(payloads[i]));
    EXPECT_EQ(((*parts)[i].data() - joined.data()) % 8, 0);
  }
}

TEST(SideBySide, UnsuitableExchangesAreRefused) {
  const Bytes payload(5, 7);
  const std::vector<ByteSpan> spans = {payload, payload};
  const Bytes joined = join_payloads(spans);
  EXPECT_FALSE(split_payloads(joined, 1).ok());
  EXPECT_FALSE(split_payloads(joined, 3).ok());
  for (std::size_t size = 0; size < joined.size(); ++size) {
    EXPECT_FALSE(split_payloads(ByteSpan(joined).first(size), 2).ok()) << size;
  }
  Bytes longer = joined;
  longer.push_back(0);
  EXPECT_FALSE(split_payloads(longer, 2).ok());
  Bytes lying = joined;
  lying[8 + 7] = 0xff;  // the last byte of the first size field
  EXPECT_FALSE(split_payloads(lying, 2).ok());
}

}  // namespace
}  // namespace tributary
