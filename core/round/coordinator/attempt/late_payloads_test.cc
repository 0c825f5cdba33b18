// Tests of the late payloads of a bucket: they stay as they came or become one sum, and the result
// decodes to the same values.
#include "core/round/coordinator/attempt/late_payloads.h"

#include <gtest/gtest.h>

#include <limits>
#include <memory>

#include "core/codec/error_feedback.h"
#include "core/codec/registry.h"
#include "core/round/common/plan/standalone_payload.h"

namespace tributary {
namespace {

constexpr std::uint32_t kLateValues = 4096;

class SomeLatePayloads : public testing::Test {
 protected:
  static StageCall call() {
    return {.round = {.job_seed = 5, .round = 9, .agents = 20}, .finite_only = true};
  }
  Bytes payload(float scale) const {
    FloatVector values(kLateValues);
    for (std::uint32_t i = 0; i < kLateValues; ++i) values[i] = scale * static_cast<float>(i % 13);
    return *encode_standalone(*bucket_.codec, call(), values);
  }
  FloatVector decoded(const Bytes& result) const {
    FloatVector sum(kLateValues, 0.0f);
    FloatVector values(kLateValues);
    const auto payloads = split_result(result);
    EXPECT_TRUE(payloads.ok()) << payloads.status().text();
    for (const ByteSpan late : payloads->late) {
      EXPECT_TRUE(decode_late(*bucket_.codec, call(), late, values).ok());
      add_values({}, values, sum);
    }
    return sum;
  }

  static PlannedBucket planned() {
    PlannedBucket bucket;
    bucket.values = kLateValues;
    bucket.codec = *make_codec("int8_shared");
    return bucket;
  }

  const PlannedBucket bucket_ = planned();
  LatePayloads late_{bucket_, 1};
};

TEST_F(SomeLatePayloads, StayAsTheyCame) {
  EXPECT_TRUE(late_.empty());
  ASSERT_TRUE(late_.add(0, call(), payload(1)).ok());
  ASSERT_TRUE(late_.add(0, call(), payload(2)).ok());
  EXPECT_FALSE(late_.empty());
  const Bytes own(40, 1);
  const Bytes result = *late_.join_to(call(), own);
  const auto payloads = split_result(result);
  ASSERT_EQ(payloads->late.size(), 2u);
  EXPECT_TRUE(std::ranges::equal(payloads->late[1], payload(2)));
  EXPECT_TRUE(std::ranges::equal(payloads->own, own));
}

TEST_F(SomeLatePayloads, AreAddedWhenTheirSumIsSmaller) {
  LatePayloads few(bucket_, 1);
  for (const float scale : {1.0f, 2.0f, 4.0f}) ASSERT_TRUE(few.add(0, call(), payload(scale)).ok());
  FloatVector expected = decoded(*few.join_to(call(), {}));
  FloatVector more(kLateValues);
  for (const float scale : {1.0f, 2.0f, 4.0f, 8.0f, 16.0f}) {
    ASSERT_TRUE(late_.add(0, call(), payload(scale)).ok());
    if (scale < 8) continue;
    ASSERT_TRUE(decode_standalone(*bucket_.codec, call(), payload(scale), more).ok());
    add_values({}, more, expected);
  }
  const Bytes result = *late_.join_to(call(), {});
  EXPECT_LT(result.size(), kLateValues * sizeof(float) + 256);
  const FloatVector sum = decoded(result);
  for (std::uint32_t i = 0; i < kLateValues; ++i) ASSERT_FLOAT_EQ(sum[i], expected[i]) << i;
}

TEST_F(SomeLatePayloads, ThatAreRefusedChangeNothing) {
  EXPECT_EQ(late_.add(0, call(), Bytes(100, 1)).code(), StatusCode::corrupt_data);
  // Values that are finite, but whose sum over 20 agents may not be.
  EXPECT_EQ(late_.add(0, call(), payload(std::numeric_limits<float>::max() / 64)).code(),
            StatusCode::not_finite);
  EXPECT_TRUE(late_.empty());
  EXPECT_FALSE(late_.members().test(0));
}

}  // namespace
}  // namespace tributary
