// Tests of payloads that an agent encodes by itself: they decode in any round, count for one agent,
// and damage is found.
#include "core/round/common/plan/standalone_payload.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "core/codec/payload.h"
#include "core/codec/registry.h"
#include "core/update/norm.h"

namespace tributary {
namespace {

constexpr std::uint32_t kStandaloneValues = 300;

FloatVector standalone_values() {
  FloatVector values(kStandaloneValues);
  for (std::uint32_t i = 0; i < kStandaloneValues; ++i) {
    values[i] = std::sin(static_cast<float>(i)) * static_cast<float>(1 + i % 7);
  }
  return values;
}

StageCall standalone_call(std::uint64_t round, std::uint32_t agents) {
  return {.round = {.job_seed = 5, .round = round, .bucket = 2, .agent = 1, .agents = agents}};
}

class StandalonePayload : public testing::TestWithParam<std::string> {
 protected:
  Bytes encode(std::uint64_t round) {
    Result<Bytes> made = encode_standalone(*codec_, standalone_call(round, 8), values_);
    EXPECT_TRUE(made.ok()) << made.status().text();
    return std::move(*made);
  }
  FloatVector decode(ByteSpan payload, std::uint64_t round, std::uint32_t agents) {
    FloatVector values(kStandaloneValues);
    const Status status =
        decode_standalone(*codec_, standalone_call(round, agents), payload, values);
    EXPECT_TRUE(status.ok()) << status.text();
    return values;
  }

  const FloatVector values_ = standalone_values();
  std::unique_ptr<Codec> codec_ = *make_codec(GetParam());
};

TEST_P(StandalonePayload, HasTheSameValuesInEveryRound) {
  const Bytes payload = encode(3);
  EXPECT_TRUE(is_standalone(payload));
  const FloatVector decoded = decode(payload, 3, 8);
  EXPECT_EQ(decode(payload, 9, 2), decoded);
  FloatVector left = values_;
  for (std::uint32_t i = 0; i < kStandaloneValues; ++i) left[i] -= decoded[i];
  EXPECT_LT(norm_of(left), norm_of(values_)) << "error feedback converges";
}

TEST_P(StandalonePayload, ThatIsDamagedIsRefused) {
  const Bytes payload = encode(3);
  FloatVector values(kStandaloneValues);
  for (std::size_t size = 0; size < payload.size(); size += 5) {
    const ByteSpan part = ByteSpan(payload).first(size);
    EXPECT_FALSE(decode_standalone(*codec_, standalone_call(3, 8), part, values).ok()) << size;
  }
  for (const std::size_t place : {0u, 4u, 16u, 24u, 40u}) {
    Bytes damaged = payload;
    damaged[place] ^= 0x41;
    EXPECT_FALSE(decode_standalone(*codec_, standalone_call(3, 8), damaged, values).ok()) << place;
  }
}

INSTANTIATE_TEST_SUITE_P(Codecs, StandalonePayload,
                         testing::Values("thc:bits=4", "int8_shared", "randk:cr=0.25",
                                         "star_topk:cr=0.25", "var_topk:cr=0.25",
                                         "powersgd:rank=2"),
                         [](const testing::TestParamInfo<std::string>& one) {
                           return one.param.substr(0, one.param.find(':'));
                         });

TEST(StandalonePayloads, CountForOneAgent) {
  const std::unique_ptr<Codec> codec = *make_codec("randk:cr=0.25");
  const FloatVector values = standalone_values();
  Bytes payload = *encode_standalone(*codec, standalone_call(3, 8), values);
  FloatVector decoded(kStandaloneValues);
  ASSERT_TRUE(decode_standalone(*codec, standalone_call(3, 8), payload, decoded).ok());
  // The payload of the only stage begins behind the header, the number of payloads and its size.
  Bytes inner(payload.begin() + 32, payload.end());
  set_contributors(2, inner);
  seal_payload({}, inner);
  std::copy(inner.begin(), inner.end(), payload.begin() + 32);
  EXPECT_EQ(decode_standalone(*codec, standalone_call(3, 8), payload, decoded).code(),
            StatusCode::corrupt_data);
}

TEST(LateResult, IsSplitIntoItsPayloads) {
  const Bytes own(13, 1);
  const Bytes first(24, 2);
  const Bytes second(9, 3);
  const Bytes result = join_result({.own = own, .late = {first, second}});
  const auto split = split_result(result);
  ASSERT_TRUE(split.ok()) << split.status().text();
  EXPECT_TRUE(std::ranges::equal(split->own, own));
  ASSERT_EQ(split->late.size(), 2u);
  EXPECT_TRUE(std::ranges::equal(split->late[1], second));
  EXPECT_TRUE(std::ranges::equal(own_results({first, result}).back(), own));
  for (std::size_t size = 4; size < result.size(); ++size) {
    EXPECT_FALSE(split_result(ByteSpan(result).first(size)).ok()) << size;
  }
}

TEST(LateResult, WithoutLatePayloadsIsTheCodecsOwn) {
  const Bytes own(13, 1);
  const auto split = split_result(own);
  ASSERT_TRUE(split.ok());
  EXPECT_EQ(split->own.data(), own.data());
  EXPECT_TRUE(split->late.empty());
}

}  // namespace
}  // namespace tributary
