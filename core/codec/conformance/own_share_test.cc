// Codecs whose agents may keep less than the codec's share. Such a payload belongs to the same
// codec and contains fewer values; aggregators and decoders do not need to know the share.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include "core/codec/codec_testing.h"

namespace tributary {
namespace {

using codec_testing::codec_of;
using codec_testing::Pattern;
using codec_testing::update;
using codec_testing::updates;

constexpr std::size_t kSharedValues = 20'000;

std::vector<std::string> specs_with_own_share() {
  std::vector<std::string> specs = {"topk:cr=0.1", "topk:cr=0.2,scope=layer"};
  for (const std::string& spec : codec_testing::default_specs()) {
    if (codec_of(spec)->own_share()) specs.push_back(spec);
  }
  return specs;
}

// A large layer, a small one and a medium one, so that selection by layer differs from selection by
// bucket.
const std::vector<LayerRun>& layers() {
  static const std::vector<LayerRun> kLayers = {
      {0, 15'000, 1}, {15'000, 100, 1}, {15'100, 4'900, 1}};
  return kLayers;
}

Bytes encode(const Codec& codec, std::span<const float> x, double keep,
             const Execution& execution = {}, std::uint32_t agent = 0) {
  Bytes payload;
  const StageCall call = {.round = {.job_seed = 3, .agent = agent, .agents = 8, .layers = layers()},
                          .execution = execution,
                          .keep = keep};
  const auto encoder = codec.make_encoder(static_cast<std::uint32_t>(x.size()));
  const Status status = encoder->encode(call, x, payload);
  EXPECT_TRUE(status.ok()) << status.text();
  return payload;
}

FloatVector decode(const Codec& codec, const Bytes& payload) {
  FloatVector decoded(kSharedValues);
  const Status status = codec.decode({.round = {.agents = 8}}, payload, decoded);
  EXPECT_TRUE(status.ok()) << status.text();
  return decoded;
}

std::size_t kept(std::span<const float> decoded) {
  return static_cast<std::size_t>(
      std::ranges::count_if(decoded, [](float value) { return value != 0; }));
}

class OwnShare : public testing::TestWithParam<std::string> {
 protected:
  const std::unique_ptr<Codec> codec_ = codec_of(GetParam());
  const double share_ = *codec_->own_share();
};

TEST_P(OwnShare, ASmallerOneIsASmallerPayloadOfTheSameCodec) {
  const FloatVector x = update(Pattern::normal, kSharedValues, 0);
  const Bytes all = encode(*codec_, x, 1);
  std::size_t before = all.size();
  std::size_t kept_before = kept(decode(*codec_, all));
  for (const double part : {0.5, 0.1, 0.02}) {
    const Bytes payload = encode(*codec_, x, share_ * part);
    const Result<OpenPayload> open = open_payload({}, payload);
    ASSERT_TRUE(open.ok()) << open.status().text();
    EXPECT_EQ(open->header.spec, codec_->spec());
    EXPECT_LT(payload.size(), before) << part;
    const FloatVector decoded = decode(*codec_, payload);
    EXPECT_LT(kept(decoded), kept_before) << part;
    EXPECT_GE(kept(decoded), 1u);
    // Kept values arrive unchanged, so the rest can stay in a residual.
    for (std::size_t i = 0; i < kSharedValues; ++i) {
      ASSERT_TRUE(decoded[i] == 0 || decoded[i] == x[i]) << i;
    }
    before = payload.size();
    kept_before = kept(decoded);
  }
}

// StageCall::keep is an upper bound; the codec's own share still applies.
TEST_P(OwnShare, ALargerOneChangesNothing) {
  const FloatVector x = update(Pattern::lognormal, kSharedValues, 1);
  const Bytes all = encode(*codec_, x, 1);
  EXPECT_EQ(encode(*codec_, x, share_), all);
  EXPECT_EQ(encode(*codec_, x, std::min(1.0, share_ * 1.5)), all);
}

TEST_P(OwnShare, EveryBackendAndNumberOfThreadsKeepsTheSame) {
  ThreadPool pool(3);
  for (const Pattern pattern : codec_testing::kPatterns) {
    const FloatVector x = update(pattern, kSharedValues, 2);
    for (const double part : {0.3, 0.01}) {
      const Bytes expected = encode(*codec_, x, share_ * part, {.backend = Backend::scalar});
      EXPECT_EQ(encode(*codec_, x, share_ * part, {.backend = Backend::simd}), expected);
      EXPECT_EQ(encode(*codec_, x, share_ * part, {.backend = Backend::simd, .pool = &pool}),
                expected);
    }
  }
}

TEST_P(OwnShare, TheSumIsThatOfTheKeptShares) {
  const auto all = updates(Pattern::integers, kSharedValues, 4);
  const auto aggregator = codec_->make_aggregator(0, kSharedValues);
  const StageCall call = {.round = {.agents = 4}};
  ASSERT_TRUE(aggregator->begin(call, {}).ok());
  FloatVector expected(kSharedValues, 0.0f);
  for (std::uint32_t agent = 0; agent < 4; ++agent) {
    // Each agent keeps a quarter of the previous agent's share.
    const double keep = share_ / (1 << (2 * agent));
    const Bytes payload = encode(*codec_, all[agent], keep, {}, agent);
    const FloatVector decoded = decode(*codec_, payload);
    for (std::size_t i = 0; i < kSharedValues; ++i) expected[i] += decoded[i];
    const Status added = aggregator->add(call, payload);
    ASSERT_TRUE(added.ok()) << added.text();
  }
  Bytes combined;
  ASSERT_TRUE(aggregator->finish(call, combined).ok());
  EXPECT_EQ(aggregator->contributors(), 4u);
  EXPECT_EQ(decode(*codec_, combined), expected);
}

// The checks of a payload do not depend on the number of values in it.
TEST_P(OwnShare, AHostilePayloadIsRefusedAsBefore) {
  const FloatVector x = update(Pattern::normal, kSharedValues, 3);
  const Bytes payload = encode(*codec_, x, share_ * 0.05);
  FloatVector decoded(kSharedValues);
  const StageCall call = {.round = {.agents = 8}};
  for (std::size_t size = 0; size < payload.size(); size += 1 + size / 16) {
    Bytes cut(payload.begin(), payload.begin() + static_cast<std::ptrdiff_t>(size));
    EXPECT_FALSE(codec_->decode(call, cut, decoded).ok()) << size;
    if (size < kPayloadFixedHeaderBytes) continue;
    seal_payload({}, cut);
    EXPECT_FALSE(codec_->decode(call, cut, decoded).ok()) << size << ", with a checksum that fits";
  }
}

INSTANTIATE_TEST_SUITE_P(Families, OwnShare, testing::ValuesIn(specs_with_own_share()),
                         codec_testing::test_name);

// If agents have agreed on positions, or if everything is sent, an agent cannot keep less on its
// own.
TEST(NoOwnShare, TheKeptShareCannotBeChanged) {
  std::size_t tried = 0;
  for (const std::string& spec : codec_testing::default_specs()) {
    const auto codec = codec_of(spec);
    if (codec->own_share()) continue;
    const FloatVector x = update(Pattern::normal, 1000, 0);
    Bytes payloads[2];
    for (int i = 0; i < 2; ++i) {
      const StageCall call = {.round = {.job_seed = 3}, .keep = i == 0 ? 1 : 0.001};
      const Status status = codec->make_encoder(1000)->encode(call, x, payloads[i]);
      EXPECT_TRUE(status.ok()) << spec << ": " << status.text();
    }
    EXPECT_EQ(payloads[0], payloads[1]) << spec;
    ++tried;
  }
  // Guards against a test that silently skips all codecs.
  EXPECT_GE(tried, 10u);
}

}  // namespace
}  // namespace tributary
