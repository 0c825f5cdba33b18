// Properties of the individual sparse codecs; codec_cases_test.cc tests the properties that all
// codecs share.
#include <gtest/gtest.h>

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <functional>
#include <numeric>
#include <set>

#include "core/base/bytes/checksum.h"
#include "core/codec/codec_testing.h"
#include "core/codec/sparse/elements.h"
#include "core/codec/sparse/select.h"
#include "core/codec/sparse/sparse_body.h"

namespace tributary::sparse {
namespace {

using codec_testing::codec_of;
using codec_testing::Pattern;
using codec_testing::Round;
using codec_testing::spans;
using codec_testing::update;
using codec_testing::updates;
using Places = std::vector<std::uint32_t>;

// The indices of the k largest magnitudes in ascending order, by a stable sort.
Places largest(std::span<const float> x, std::size_t k) {
  Places places(x.size());
  std::iota(places.begin(), places.end(), 0u);
  std::ranges::stable_sort(places, std::greater(), [&](auto i) { return magnitude_bits(x[i]); });
  places.resize(k);
  std::ranges::sort(places);
  return places;
}

// x with zeros at all other indices.
FloatVector only_at(std::span<const float> x, const Places& places) {
  FloatVector out(x.size(), 0.0f);
  for (const std::uint32_t place : places) out[place] = x[place];
  return out;
}

struct Encoded {
  Bytes payload;
  FloatVector decoded;
};

Encoded encode_alone(const Codec& codec, Encoder& encoder, std::span<const float> x,
                     RoundContext round = {}) {
  Encoded out = {.payload = {}, .decoded = FloatVector(x.size())};
  const Status encoded = encoder.encode({.round = round}, x, out.payload);
  EXPECT_TRUE(encoded.ok()) << encoded.text();
  const Status decoded = codec.decode({.round = round}, out.payload, out.decoded);
  EXPECT_TRUE(decoded.ok()) << decoded.text();
  return out;
}

Encoded encode_alone(const std::string& spec, std::span<const float> x, RoundContext round = {}) {
  const auto codec = codec_of(spec);
  const auto encoder = codec->make_encoder(static_cast<std::uint32_t>(x.size()));
  return encode_alone(*codec, *encoder, x, round);
}

TEST(Topk, SendsTheLargestAsTheyAre) {
  const FloatVector x = update(Pattern::lognormal, 5000, 0);
  EXPECT_EQ(encode_alone("topk:cr=0.03", x).decoded, only_at(x, largest(x, 150)));
  EXPECT_EQ(encode_alone("topk:cr=1", x).decoded, x);
}

// The layer of 5 values still sends one value.
TEST(Topk, ByLayerEveryLayerSendsItsOwnShare) {
  const FloatVector x = update(Pattern::normal, 1000, 0);
  const std::vector<LayerRun> layers = {{0, 600, 1}, {600, 5, 1}, {605, 395, 1}};
  Places expected = largest(std::span(x).first(600), 60);
  for (const auto p : largest(std::span(x).subspan(600, 5), 1)) expected.push_back(p + 600);
  for (const auto p : largest(std::span(x).subspan(605), 39)) expected.push_back(p + 605);
  const RoundContext round = {.layers = layers};
  EXPECT_EQ(encode_alone("topk:cr=0.1,scope=layer", x, round).decoded, only_at(x, expected));
  EXPECT_EQ(encode_alone("topk:cr=0.1", x, round).decoded, only_at(x, largest(x, 100)));
}

TEST(Topk, LayersThatDoNotMakeTheBucketAreRefused) {
  const auto codec = codec_of("topk:scope=layer");
  const FloatVector x(100, 1.0f);
  for (const auto& layers : {std::vector<LayerRun>{{0, 99, 1}}, std::vector<LayerRun>{{0, 101, 1}},
                             std::vector<LayerRun>{{0, 50, 1}, {49, 51, 1}},
                             std::vector<LayerRun>{{0, 0xffffffff, 1}, {0xffffffff, 101, 1}}}) {
    Bytes payload;
    EXPECT_EQ(codec->make_encoder(100)->encode({.round = {.layers = layers}}, x, payload).code(),
              StatusCode::invalid_argument);
  }
}

// With the whole bucket as the sample, the share is exact.
TEST(Threshold, SendsABitmapAndAboutItsShare) {
  const FloatVector x = update(Pattern::normal, 100'000, 0);
  const Encoded out = encode_alone("threshold:keep=0.05,sample=1", x);
  EXPECT_EQ(out.decoded, only_at(x, largest(x, 5000)));
  const Result<OpenPayload> open = open_payload({}, out.payload);
  ASSERT_TRUE(open.ok());
  EXPECT_EQ(open->header.layout, static_cast<std::uint8_t>(IndexLayout::bitmap));
  EXPECT_EQ(open->body.size(), 4 + 5000 * 4 + 12'500u);
}

// A payload that is nearly dense is sent dense and still decodes to k values.
TEST(Payload, IsNeverLargerThanTheBucket) {
  const FloatVector x = update(Pattern::normal, 8000, 0);
  const Encoded out = encode_alone("topk:cr=0.99", x);
  EXPECT_EQ(out.decoded, only_at(x, largest(x, 7920)));
  const Result<OpenPayload> open = open_payload({}, out.payload);
  ASSERT_TRUE(open.ok());
  EXPECT_EQ(open->body.size(), 4 + 8000 * 4u);
}

// Compares decode_add() with the general rule: decode, then add.
TEST(Payload, IsAddedAsItsDecodedValuesOrNotAtAll) {
  for (const char* spec : {"topk:cr=0.01", "mstopk:cr=0.3", "dgc:cr=0.05", "threshold:keep=0.6"}) {
    SCOPED_TRACE(spec);
    const auto codec = codec_of(spec);
    const FloatVector x = update(Pattern::normal, 20'000, 1);
    Bytes payload;
    ASSERT_TRUE(codec->make_encoder(20'000)->encode({}, x, payload).ok());
    FloatVector scratch(x.size());
    FloatVector expected = update(Pattern::lognormal, 20'000, 2);
    FloatVector sum = expected;
    ASSERT_TRUE(codec->Codec::decode_add({}, payload, scratch, expected).ok());
    ASSERT_TRUE(codec->decode_add({}, payload, {}, sum).ok());
    EXPECT_EQ(sum, expected);
    payload.back() ^= 1;
    EXPECT_FALSE(codec->decode_add({}, payload, {}, sum).ok());
    EXPECT_EQ(sum, expected) << "refused without a trace";
  }
}

// Five agents select partly the same indices. Each index in the union costs 4 bytes and less than 2
// for itself.
TEST(SparseSum, IsSentDownAsTheUnionOfPlaces) {
  const auto codec = codec_of("topk:cr=0.01");
  constexpr std::uint32_t kAgents = 5;
  const auto all = updates(Pattern::normal, 20'000, kAgents);
  FloatVector expected(20'000, 0.0f);
  std::set<std::uint32_t> united;
  for (const FloatVector& x : all) {
    for (const std::uint32_t place : largest(x, 200)) {
      expected[place] += x[place];
      united.insert(place);
    }
  }
  Round round(*codec, all, kAgents);
  FloatVector sum(20'000);
  ASSERT_TRUE(codec->decode(round.call(0), round.combined(0), sum).ok());
  EXPECT_EQ(sum, expected);
  const Result<OpenPayload> open = open_payload({}, round.combined(0));
  ASSERT_TRUE(open.ok());
  EXPECT_EQ(open->header.contributors, kAgents);
  EXPECT_LT(open->body.size(), united.size() * 6);
  EXPECT_GT(open->body.size(), united.size() * 4);
}

// begin() clears only touched elements, so a second round could show a leftover of the first.
TEST(SparseSum, IsReusedWithoutATraceOfTheLastRound) {
  const auto codec = codec_of("topk:cr=0.01");
  const auto aggregator = codec->make_aggregator(0, 3000);
  const auto all = updates(Pattern::normal, 3000, 2);

  for (const FloatVector& x : {all[0], all[1], all[0]}) {
    const Encoded agent = encode_alone("topk:cr=0.01", x);
    ASSERT_TRUE(aggregator->begin({.round = {}}, {}).ok());
    ASSERT_TRUE(aggregator->add({.round = {}}, agent.payload).ok());
    Bytes combined;
    ASSERT_TRUE(aggregator->finish({.round = {}}, combined).ok());
    EXPECT_EQ(combined, agent.payload);
  }
}

// Only the second element overflows; the first one must not change either.
TEST(SparseSum, APayloadThatOverflowsTheSumIsRefusedWithoutATrace) {
  const auto codec = codec_of("topk:cr=1");
  const StageCall call = {.round = {.agents = 3}};
  const Encoded tame = encode_alone("topk:cr=1", FloatVector{1.0f, FLT_MAX, 2.0f});
  const Encoded huge = encode_alone("topk:cr=1", FloatVector{5.0f, FLT_MAX, 2.0f});
  const auto aggregator = codec->make_aggregator(0, 3);
  ASSERT_TRUE(aggregator->begin(call, {}).ok());
  ASSERT_TRUE(aggregator->add(call, tame.payload).ok());
  EXPECT_EQ(aggregator->add(call, huge.payload).code(), StatusCode::not_finite);
  EXPECT_EQ(aggregator->contributors(), 1u);
  Bytes combined;
  ASSERT_TRUE(aggregator->finish(call, combined).ok());
  EXPECT_EQ(combined, tame.payload);
}

TEST(Randk, AgentsSendTheSamePlacesAndOthersEachRound) {
  const FloatVector x = update(Pattern::normal, 10'000, 0);
  const auto places_in = [&](std::uint64_t round, std::uint32_t agent, std::uint64_t seed) {
    const Encoded out =
        encode_alone("randk", x, {.job_seed = seed, .round = round, .agent = agent, .agents = 4});
    Places places;
    for (std::uint32_t i = 0; i < x.size(); ++i) {
      if (out.decoded[i] == 0) continue;
      EXPECT_EQ(out.decoded[i], x[i]);
      places.push_back(i);
    }
    EXPECT_EQ(places.size(), 100u);
    return places;
  };
  EXPECT_EQ(places_in(0, 0, 1), places_in(0, 3, 1));
  EXPECT_NE(places_in(0, 0, 1), places_in(1, 0, 1));
  EXPECT_NE(places_in(0, 0, 1), places_in(0, 0, 2));
}

// The algorithm of DGC's paper, with the whole bucket as the sample.
TEST(Dgc, EqualsThePlainAlgorithmOverRounds) {
  constexpr std::size_t kValues = 2000;
  constexpr float kMomentum = 0.5f;
  const auto codec = codec_of("dgc:cr=0.01,momentum=0.5,sample=1");
  EXPECT_FALSE(codec->conserves());
  const auto encoder = codec->make_encoder(kValues);
  FloatVector u(kValues, 0.0f);
  FloatVector v(kValues, 0.0f);
  for (std::uint32_t round = 0; round < 6; ++round) {
    const FloatVector x = update(Pattern::normal, kValues, round);
    for (std::size_t i = 0; i < kValues; ++i) {
      u[i] = kMomentum * u[i] + x[i];
      v[i] = v[i] + u[i];
    }
    const Places places = largest(v, 20);
    const Encoded out = encode_alone(*codec, *encoder, x, {.round = round});
    ASSERT_EQ(out.decoded, only_at(v, places)) << "round " << round;
    const bool committed = round != 2;  // round 2 is committed without this agent
    encoder->settle({}, committed);
    if (!committed) continue;
    for (const std::uint32_t place : places) u[place] = v[place] = 0;
  }
}

// DGC's warm-up: 25 %, 6.25 %, 1.5625 %, and then the ratio.
TEST(Dgc, SendsMoreInItsWarmUp) {
  constexpr std::size_t kValues = 6400;
  const auto codec = codec_of("dgc:cr=0.005,sample=1,warmup=6");
  const auto sent_in = [&](std::uint64_t round) {
    const auto encoder = codec->make_encoder(kValues);
    const Encoded out =
        encode_alone(*codec, *encoder, update(Pattern::normal, kValues, 1), {.round = round});
    return std::ranges::count_if(out.decoded, [](float value) { return value != 0; });
  };
  for (const std::uint64_t round : {0u, 1u, 2u}) EXPECT_EQ(sent_in(round), 1600) << round;
  for (const std::uint64_t round : {3u, 4u}) EXPECT_EQ(sent_in(round), 400) << round;
  for (const std::uint64_t round : {5u, 6u}) EXPECT_EQ(sent_in(round), 100) << round;
  for (const std::uint64_t round : {7u, 1000u}) EXPECT_EQ(sent_in(round), 32) << round;
}

// A ratio of a quarter or more needs none, and an agent with a smaller share keeps to it.
TEST(Dgc, HasNoWarmUpAboveTheRatio) {
  const auto most = codec_of("dgc:cr=0.5,sample=1,warmup=100");
  const auto few = codec_of("dgc:cr=0.1,sample=1,warmup=100");
  const FloatVector x = update(Pattern::normal, 1000, 1);
  const auto sent = [&](const Codec& codec, double keep) {
    const auto encoder = codec.make_encoder(1000);
    Bytes payload;
    EXPECT_TRUE(encoder->encode({.round = {.round = 1}, .keep = keep}, x, payload).ok());
    FloatVector decoded(1000);
    EXPECT_TRUE(codec.decode({.round = {}}, payload, decoded).ok());
    return std::ranges::count_if(decoded, [](float value) { return value != 0; });
  };
  EXPECT_EQ(sent(*most, 1), 500);
  EXPECT_EQ(sent(*few, 1), 250);
  EXPECT_EQ(sent(*few, 0.01), 10);
}

// The check for NaN and Inf precedes the momentum correction.
TEST(Dgc, ARefusedUpdateLeavesItsMemoryClean) {
  const auto codec = codec_of("dgc:momentum=0.5");
  const auto touched = codec->make_encoder(100);
  const auto untouched = codec->make_encoder(100);
  FloatVector x = update(Pattern::normal, 100, 0);
  const FloatVector good = x;
  x[60] = INFINITY;
  Bytes payload;
  EXPECT_EQ(touched->encode({.round = {}}, x, payload).code(), StatusCode::not_finite);
  EXPECT_EQ(encode_alone(*codec, *touched, good).payload,
            encode_alone(*codec, *untouched, good).payload);
}

// An independent implementation of the paper's Algorithm 1 for all agents; it shares only the order
// of additions with the codec.
class PlainArTopk {
 public:
  PlainArTopk(std::size_t agents, std::size_t values, std::size_t k)
      : k_(k), residual_(agents, FloatVector(values, 0.0f)) {}

  FloatVector step(const std::vector<FloatVector>& gradients, bool variance, std::uint64_t round) {
    std::vector<FloatVector> fed = gradients;
    std::vector<double> energy;
    for (std::size_t r = 0; r < fed.size(); ++r) {
      for (std::size_t i = 0; i < fed[r].size(); ++i) fed[r][i] += residual_[r][i];
      energy.push_back(0);
      for (const std::uint32_t place : largest(fed[r], k_)) {
        energy.back() += static_cast<double>(fed[r][place]) * static_cast<double>(fed[r][place]);
      }
    }
    const auto most = std::ranges::max_element(energy) - energy.begin();
    root = variance ? static_cast<std::size_t>(most) : round % fed.size();
    FloatVector sum(fed[0].size(), 0.0f);
    for (const std::uint32_t place : largest(fed[root], k_)) {
      for (FloatVector& g : fed) {
        sum[place] += g[place];
        g[place] = 0;
      }
    }
    residual_ = fed;
    return sum;
  }

  const FloatVector& residual(std::size_t agent) const { return residual_[agent]; }
  std::size_t root = 0;

 private:
  std::size_t k_;
  std::vector<FloatVector> residual_;
};

class ArTopk : public testing::TestWithParam<bool> {};

TEST_P(ArTopk, EqualsThePaperOverAgentsAndRounds) {
  constexpr std::uint32_t kAgents = 4;
  constexpr std::uint32_t kValues = 3000;
  const bool variance = GetParam();
  const auto codec = codec_of(variance ? "var_topk:cr=0.02" : "star_topk:cr=0.02");
  const SystemClock clock;
  LocalExchange exchange(*codec, kValues, kAgents, true, clock);
  PlainArTopk plain(kAgents, kValues, 60);
  std::set<std::size_t> roots;
  FloatVector sum(kValues);
  for (std::uint64_t round = 0; round < 9; ++round) {
    std::vector<FloatVector> gradients;
    for (std::uint32_t r = 0; r < kAgents; ++r) {
      gradients.push_back(
          update(Pattern::lognormal, kValues, static_cast<std::uint32_t>(round) * kAgents + r));
    }
    const FloatVector expected = plain.step(gradients, variance, round);
    roots.insert(plain.root);
    const auto traffic = exchange.play({.round = round}, {}, spans(gradients), sum);
    ASSERT_TRUE(traffic.ok()) << traffic.status().text();
    ASSERT_EQ(sum, expected) << "round " << round;
    for (std::uint32_t r = 0; r < kAgents; ++r) {
      ASSERT_TRUE(std::ranges::equal(exchange.residual(r), plain.residual(r)))
          << "round " << round << ", agent " << r;
    }
  }
  EXPECT_GT(roots.size(), 1u) << "the rounds shall have several roots";
}

INSTANTIATE_TEST_SUITE_P(Variants, ArTopk, testing::Bool(), [](const auto& variant) {
  return variant.param ? "VarTopk" : "StarTopk";
});

TEST(StarTopk, OnlyTheRootSendsIndices) {
  const auto codec = codec_of("star_topk");
  const FloatVector x = update(Pattern::normal, 500, 0);
  for (std::uint64_t round = 0; round < 7; ++round) {
    for (std::uint32_t agent = 0; agent < 3; ++agent) {
      // The encoder must clear a payload that it does not write.
      Bytes payload = {1, 2, 3};
      const StageCall call = {.round = {.round = round, .agent = agent, .agents = 3}};
      ASSERT_TRUE(codec->make_encoder(500)->encode(call, x, payload).ok());
      EXPECT_EQ(payload.empty(), round % 3 != agent);
    }
  }
}

TEST(StarTopk, ANaNOfAnAgentThatIsNotTheRootIsRefusedToo) {
  const auto codec = codec_of("star_topk");
  FloatVector x(500, 1.0f);
  x[123] = NAN;
  Bytes payload;
  const Status status = codec->make_encoder(500)->encode(
      {.round = {.round = 1, .agent = 0, .agents = 2}}, x, payload);
  EXPECT_EQ(status.code(), StatusCode::not_finite);
}

// The energy covers the values that would be sent, not the whole gradient. An agent with much noise
// and no peak loses against one with a peak. With equal energies, the first agent's wins.
TEST(VarTopk, TheRootHasTheMostSelectedEnergy) {
  const auto codec = codec_of("var_topk:cr=0.01");
  const auto root_of = [&](const std::vector<FloatVector>& all) {
    Round round(*codec, all, static_cast<std::uint32_t>(all.size()));
    std::size_t root = all.size();
    for (std::size_t agent = 0; agent < all.size(); ++agent) {
      if (round.payload(1, agent).empty()) continue;
      EXPECT_EQ(root, all.size()) << "two roots";
      root = agent;
    }
    return root;
  };
  FloatVector noisy(1000, 1.0f);
  FloatVector peaked(1000, 0.0f);
  for (std::size_t i = 0; i < 10; ++i) peaked[i * 90] = -3.0f;
  EXPECT_EQ(root_of({noisy, peaked, noisy}), 1u);
  EXPECT_EQ(root_of({noisy, noisy}), 0u);
  EXPECT_EQ(root_of({noisy, peaked, peaked}), 1u);
}

TEST(ArTopkAggregators, RefuseASecondRootAndASecondEnergy) {
  const auto codec = codec_of("var_topk");
  const auto all = updates(Pattern::normal, 400, 2);
  Round round(*codec, all, 2);
  const std::size_t root = round.payload(1, 0).empty() ? 1 : 0;
  for (const std::size_t stage : {0u, 1u}) {
    const auto aggregator = codec->make_aggregator(stage, 400);
    const StageCall call = round.call(stage);
    ASSERT_TRUE(aggregator->begin(call, {}).ok());
    ASSERT_TRUE(aggregator->add(call, round.payload(stage, root)).ok());
    EXPECT_FALSE(aggregator->add(call, round.payload(stage, root)).ok());
    EXPECT_EQ(aggregator->contributors(), 1u);
    Bytes combined;
    ASSERT_TRUE(aggregator->finish(call, combined).ok());
    EXPECT_EQ(combined, round.payload(stage, root));
    EXPECT_FALSE(aggregator->add(call, round.payload(stage, root)).ok()) << "too late";
  }
}

TEST(ArTopkAggregators, ARootWithTheWrongNumberOfPlacesIsRefused) {
  const auto small = codec_of("star_topk");
  const auto large = codec_of("star_topk:cr=0.02");
  const FloatVector x = update(Pattern::normal, 400, 0);
  // cr=0.01 of 400 values is 4 indices.
  const IndexVector places = {1, 2, 3, 4, 5, 6, 7, 8};
  Bytes payload;
  write_index_set({}, {.spec = small->spec(), .stage = 0, .values = 400}, places, payload);
  seal_payload({}, payload);
  const auto aggregator = small->make_aggregator(0, 400);
  ASSERT_TRUE(aggregator->begin({.round = {}}, {}).ok());
  EXPECT_EQ(aggregator->add({.round = {}}, payload).code(), StatusCode::corrupt_data);
  EXPECT_EQ(aggregator->contributors(), 0u);
}

// Hashes of the payloads of the first version. A change of them changes the meaning of stored
// payloads.
struct Golden {
  const char* spec;
  std::uint32_t hash;
};
class GoldenPayloads : public testing::TestWithParam<Golden> {};

TEST_P(GoldenPayloads, StayAsTheyAre) {
  const auto codec = codec_of(GetParam().spec);
  FloatVector x(3000);
  for (std::uint32_t i = 0; i < x.size(); ++i) {
    x[i] = static_cast<float>(random_bits({1, 2}, i) % 2001) - 1000.0f;
  }
  Round round(*codec, {x, x, x}, 3);
  Checksum all;
  for (std::size_t stage = 0; stage <= round.last(); ++stage) all.update(round.combined(stage));
  EXPECT_EQ(all.finish(), GetParam().hash) << GetParam().spec;
}

INSTANTIATE_TEST_SUITE_P(
    All, GoldenPayloads,
    testing::Values(Golden{"topk", 0x1efec062u}, Golden{"topk:cr=0.5", 0x2c4b9a59u},
                    Golden{"topk:cr=1e-06", 0x5c493318u},
                    Golden{"mstopk:bisections=4", 0x1acfd29du}, Golden{"dgc", 0x31d8dd35u},
                    Golden{"threshold", 0x51f62209u}, Golden{"randk", 0x7e873a1eu},
                    Golden{"star_topk", 0x4006d9e8u}, Golden{"var_topk", 0x36fa40c8u}));

}  // namespace
}  // namespace tributary::sparse
