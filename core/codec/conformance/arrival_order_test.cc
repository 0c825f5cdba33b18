// The star adds payloads as they arrive. Sums of integers do not depend on the order; sums of
// float32 do, in the last bits (docs/codecs/README.md).
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "core/codec/codec_testing.h"

namespace tributary {
namespace {

using codec_testing::Pattern;

constexpr std::uint32_t kArrivalAgents = 5;
constexpr std::size_t kArrivalValues = 4097;

// The combined payload of the last stage, with the agents added in this order.
Bytes combined_in_order(const Codec& codec, codec_testing::Round& round,
                        std::span<const std::uint32_t> order) {
  const std::size_t last = round.last();
  const StageCall call = round.call(last);
  const auto aggregator = codec.make_aggregator(last, kArrivalValues);
  EXPECT_TRUE(aggregator->begin(call, {}).ok());
  for (const std::uint32_t agent : order) {
    EXPECT_TRUE(aggregator->add(call, round.payload(last, agent)).ok()) << agent;
  }
  Bytes combined;
  EXPECT_TRUE(aggregator->finish(call, combined).ok());
  return combined;
}

class ArrivalOrder : public testing::TestWithParam<std::string> {};

TEST_P(ArrivalOrder, ChangesNoSumOfIntegers) {
  const auto codec = codec_testing::codec_of(GetParam());
  const auto all = codec_testing::updates(Pattern::lognormal, kArrivalValues, kArrivalAgents);
  codec_testing::Round round(*codec, all, kArrivalAgents);
  std::vector<std::uint32_t> order = {0, 1, 2, 3, 4};
  do {
    ASSERT_EQ(combined_in_order(*codec, round, order), round.combined(round.last()));
  } while (std::ranges::next_permutation(order).found);
}

INSTANTIATE_TEST_SUITE_P(Integers, ArrivalOrder,
                         testing::Values("int8_shared", "thc", "thc:rate=1.5", "signsgd"),
                         codec_testing::test_name);

// All replicas apply the bytes of one sum, so they are equal whatever the order was.
TEST(ArrivalOrderOfFloats, ChangesTheLastBitsAtMost) {
  const auto codec = codec_testing::codec_of("fp32");
  const auto all = codec_testing::updates(Pattern::lognormal, kArrivalValues, kArrivalAgents);
  codec_testing::Round round(*codec, all, kArrivalAgents);
  FloatVector forwards(kArrivalValues);
  FloatVector backwards(kArrivalValues);
  constexpr std::uint32_t kBackwards[] = {4, 3, 2, 1, 0};
  const StageCall call = round.call(0);
  ASSERT_TRUE(codec->decode(call, round.combined(0), forwards).ok());
  ASSERT_TRUE(codec->decode(call, combined_in_order(*codec, round, kBackwards), backwards).ok());
  for (std::size_t i = 0; i < kArrivalValues; ++i) {
    float magnitudes = 0;
    for (const FloatVector& update : all) magnitudes += std::abs(update[i]);
    // One rounding of each of four additions, in both orders.
    ASSERT_NEAR(forwards[i], backwards[i], 8 * 0x1p-24f * magnitudes) << i;
  }
}

}  // namespace
}  // namespace tributary
