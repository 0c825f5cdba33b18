// Tests of PowerSGD on matrices with a known spectrum: exact for their rank, converging with a warm
// start, finite for hostile factors.
#include <gtest/gtest.h>

#include "core/base/bytes/checksum.h"
#include "core/codec/codec_testing.h"
#include "core/codec/error_feedback.h"
#include "core/codec/lowrank/algebra.h"
#include "core/codec/lowrank/factors.h"
#include "core/codec/lowrank/matrices.h"

namespace tributary::lowrank {
namespace {

using codec_testing::codec_of;
using codec_testing::Pattern;
using codec_testing::spans;
using codec_testing::update;

// The matrix Σ_k sizes[k] · u_k v_kᵀ with orthonormal u and v.
FloatVector spectrum_matrix(std::uint32_t rows, std::uint32_t cols,
                            const std::vector<double>& sizes) {
  FloatVector left = update(Pattern::normal, rows * sizes.size(), 100);
  FloatVector right = update(Pattern::normal, cols * sizes.size(), 101);
  orthonormalise(rows, left);
  orthonormalise(cols, right);
  for (std::size_t i = 0; i < left.size(); ++i) {
    left[i] = static_cast<float>(static_cast<double>(left[i]) * sizes[i / rows]);
  }
  FloatVector values(std::size_t{rows} * cols);
  expand({}, rows, cols, left, right, 1, values);
  return values;
}

double squared(std::span<const float> x) {
  double sum = 0;
  for (const float value : x) sum += static_cast<double>(value) * static_cast<double>(value);
  return sum;
}

double nmse(std::span<const float> got, std::span<const float> truth, double scale = 1) {
  double error = 0;
  for (std::size_t i = 0; i < truth.size(); ++i) {
    const double off = static_cast<double>(got[i]) * scale - static_cast<double>(truth[i]);
    error += off * off;
  }
  return error / squared(truth);
}

constexpr std::uint32_t kRows = 60;
constexpr std::uint32_t kCols = 50;
constexpr std::uint32_t kValues = kRows * kCols;
constexpr LayerRun kLayer[] = {{.offset = 0, .count = kValues, .rows = kRows}};

// The NMSE of the decoded sum after each round, for agents that all have the same update.
std::vector<double> rounds_of(const std::string& spec, const FloatVector& truth,
                              std::uint32_t rounds) {
  const auto codec = codec_of(spec);
  const SystemClock clock;
  LocalExchange exchange(*codec, kValues, 1, false, clock);
  FloatVector sum(kValues);
  std::vector<double> all;
  for (std::uint32_t round = 0; round < rounds; ++round) {
    const auto traffic = exchange.play({.round = round, .layers = kLayer}, {}, {{truth}}, sum);
    EXPECT_TRUE(traffic.ok()) << traffic.status().text();
    all.push_back(nmse(sum, truth));
  }
  return all;
}

TEST(Powersgd, ReproducesAMatrixOfItsRankInOneRound) {
  EXPECT_LT(rounds_of("powersgd:rank=1", spectrum_matrix(kRows, kCols, {3}), 1)[0], 1e-12);
  EXPECT_LT(rounds_of("powersgd", spectrum_matrix(kRows, kCols, {3}), 1)[0], 1e-12);
  EXPECT_LT(rounds_of("powersgd", spectrum_matrix(kRows, kCols, {4, 3, 2, 1}), 1)[0], 1e-11);
}

// The agents' matrices are multiples of one matrix of rank 2, so the sum has rank 2 as well.
TEST(Powersgd, SumsAgentsThatShareASubspace) {
  const FloatVector base = spectrum_matrix(kRows, kCols, {2, 1});
  std::vector<FloatVector> all(3, base);
  for (float& x : all[1]) x *= -0.25f;
  for (float& x : all[2]) x *= 7;
  FloatVector truth = base;
  for (float& x : truth) x *= 7.75f;
  const auto codec = codec_of("powersgd:rank=2");
  const SystemClock clock;
  LocalExchange exchange(*codec, kValues, 3, true, clock);
  FloatVector sum(kValues);
  ASSERT_TRUE(exchange.play({.layers = kLayer}, {}, spans(all), sum).ok());
  EXPECT_LT(nmse(sum, truth), 1e-11);
}

// With power iteration, each round is closer to the best approximation of that rank.
TEST(Powersgd, WarmStartConvergesToTheBestOfItsRank) {
  const std::vector<double> sizes = {4, 3, 1.5, 1.2, 1, 0.8, 0.6, 0.5};
  const FloatVector truth = spectrum_matrix(kRows, kCols, sizes);
  // The squares of the omitted singular values are the smallest possible error.
  double all = 0;
  double beyond = 0;
  for (std::size_t k = 0; k < sizes.size(); ++k) {
    all += sizes[k] * sizes[k];
    if (k >= 2) beyond += sizes[k] * sizes[k];
  }
  const std::vector<double> got = rounds_of("powersgd:rank=2", truth, 16);
  // The first round starts from random factors and is worse than the optimum.
  EXPECT_GT(got[0], beyond / all * 1.05);
  for (std::size_t round = 1; round < got.size(); ++round) {
    EXPECT_LT(got[round], got[round - 1] + 1e-7) << round;
  }
  EXPECT_NEAR(got.back(), beyond / all, beyond / all * 1e-3);
}

// With error feedback the whole update arrives over time, including noise that is far from low
// rank.
TEST(Powersgd, ErrorFeedbackSendsTheRestLater) {
  FloatVector truth = spectrum_matrix(kRows, kCols, {10, 5});
  const FloatVector noise = update(Pattern::normal, kValues, 3);
  for (std::size_t i = 0; i < truth.size(); ++i) truth[i] += noise[i] * 0.05f;
  const auto codec = codec_of("powersgd");
  const SystemClock clock;
  LocalExchange exchange(*codec, kValues, 1, true, clock);
  FloatVector sum(kValues);
  FloatVector account(kValues, 0.0f);
  std::vector<double> of_mean;
  for (std::uint32_t round = 1; round <= 128; ++round) {
    ASSERT_TRUE(exchange.play({.round = round, .layers = kLayer}, {}, {{truth}}, sum).ok());
    add_values(sum, account);
    of_mean.push_back(nmse(account, truth, 1.0 / round));
  }
  EXPECT_LT(of_mean[31], of_mean[0] / 2);
  EXPECT_LT(of_mean[127], of_mean[31] / 4);
}

// Only the matrix of 64 × 48 gets smaller by factors of rank 4. Vectors and small matrices are
// exact.
TEST(Powersgd, SmallLayersTravelRaw) {
  constexpr std::uint32_t kAll = 10 + 20 + 64 * 48 + 7;
  const LayerRun layers[] = {{.offset = 0, .count = 10, .rows = 1},
                             {.offset = 10, .count = 20, .rows = 5},
                             {.offset = 30, .count = 64 * 48, .rows = 64},
                             {.offset = 30 + 64 * 48, .count = 7, .rows = 1}};
  const FloatVector truth = update(Pattern::normal, kAll, 0);
  const auto codec = codec_of("powersgd");
  const SystemClock clock;
  LocalExchange exchange(*codec, kAll, 1, true, clock);
  FloatVector sum(kAll);
  ASSERT_TRUE(exchange.play({.layers = layers}, {}, {{truth}}, sum).ok());
  // Stage 0: a bound and the left factor. Stage 1: the right factor and 37 raw values.
  EXPECT_EQ(open_payload({}, exchange.combined()[0])->body.size(), (1 + 4 * 64) * 4u);
  EXPECT_EQ(open_payload({}, exchange.combined()[1])->body.size(), (4 * 48 + 37) * 4u);
  for (std::size_t i = 0; i < kAll; ++i) {
    if (i < 30 || i >= 30 + 64 * 48) {
      ASSERT_EQ(sum[i], truth[i]) << i;
    }
  }
  EXPECT_NE(exchange.residual(0)[30], 0.0f);
}

TEST(Powersgd, WithoutLayersABucketIsNearlySquare) {
  for (const std::size_t values : {1u, 2u, 99u, 100u, 101u, 110u, 111u, 4097u}) {
    const Result<Matrices> cut = cut_into_matrices(1, {}, values);
    ASSERT_TRUE(cut.ok());
    const Matrix& matrix = cut->all.at(0);
    EXPECT_GE(matrix.rows * matrix.cols, values);
    EXPECT_LT(matrix.rows * matrix.cols, values + matrix.cols) << "only the last row is short";
    EXPECT_LE(matrix.rows - matrix.cols, 1u);
  }
  EXPECT_TRUE(cut_into_matrices(1, {}, 0)->all.empty());
}

TEST(Powersgd, RefusesLayersThatDoNotFit) {
  const std::vector<std::vector<LayerRun>> wrong = {
      {{.offset = 0, .count = 90, .rows = 9}},                                          // too short
      {{.offset = 0, .count = 110, .rows = 10}},                                        // too long
      {{.offset = 0, .count = 50, .rows = 5}, {.offset = 60, .count = 40, .rows = 4}},  // gap
      {{.offset = 0, .count = 100, .rows = 3}},  // rows incomplete
      {{.offset = 0, .count = 100, .rows = 0}},
      {{.offset = 0, .count = 100, .rows = 10}, {.offset = 50, .count = 50, .rows = 5}},  // overlap
  };
  for (const auto& layers : wrong) {
    const Result<Matrices> cut = cut_into_matrices(1, layers, 100);
    EXPECT_EQ(cut.status().code(), StatusCode::invalid_argument) << layers[0].count;
  }
}

// Both stages of a single agent, and the payloads that all agents then receive.
struct LoneRound {
  LoneRound(const Codec& codec, Encoder& encoder, const FloatVector& values, std::uint64_t round) {
    const RoundContext context = {.round = round};
    EXPECT_TRUE(encoder.encode({.round = context}, values, payloads[0]).ok());
    spans[0] = payloads[0];
    const auto first = std::span<const ByteSpan>(spans).first(1);
    EXPECT_TRUE(encoder.encode({.round = context, .combined = first}, values, payloads[1]).ok());
    spans[1] = payloads[1];
    decoded.resize(values.size());
    EXPECT_TRUE(codec.decode({.round = context, .combined = first}, payloads[1], decoded).ok());
  }
  Bytes payloads[2];
  ByteSpan spans[2];
  FloatVector decoded;
};

// An agent whose contribution was excluded still knows the combined factors. An agent of an aborted
// round, like a new one, starts from random factors.
TEST(Powersgd, AllReceiversOfARoundStartTheNextEqually) {
  const auto codec = codec_of("powersgd");
  const FloatVector values = update(Pattern::normal, kValues, 0);
  const auto encoder = [&] { return codec->make_encoder(kValues); };
  const auto committed = encoder();
  const auto excluded = encoder();
  const auto given_up = encoder();
  const auto newcomer = encoder();
  const LoneRound first(*codec, *committed, values, 1);
  EXPECT_EQ(LoneRound(*codec, *excluded, values, 1).payloads[0], first.payloads[0]);
  const LoneRound abandoned(*codec, *given_up, values, 1);
  committed->settle(first.spans, true);
  excluded->settle(first.spans, false);
  given_up->settle({}, false);
  const LoneRound second(*codec, *committed, values, 2);
  EXPECT_EQ(LoneRound(*codec, *excluded, values, 2).payloads[0], second.payloads[0]);
  const LoneRound fresh(*codec, *newcomer, values, 2);
  EXPECT_NE(fresh.payloads[0], second.payloads[0]);
  EXPECT_EQ(LoneRound(*codec, *given_up, values, 2).payloads[0], fresh.payloads[0]);
  EXPECT_LT(nmse(second.decoded, values), nmse(fresh.decoded, values));
}

// Factors are multiples of 2^-23 below a common bound, so float32 adds them exactly.
TEST(Powersgd, TheOrderOfAdditionChangesNothing) {
  const auto codec = codec_of("powersgd");
  const auto all = codec_testing::updates(Pattern::lognormal, kValues, 5);
  codec_testing::Round round(*codec, all, 5);
  const StageCall call = round.call(kRightStage);
  const auto aggregator = codec->make_aggregator(kRightStage, kValues);
  ASSERT_TRUE(aggregator->begin(call, {}).ok());
  for (const std::size_t agent : {3u, 0u, 4u, 2u, 1u}) {
    ASSERT_TRUE(aggregator->add(call, round.payload(kRightStage, agent)).ok());
  }
  Bytes combined;
  ASSERT_TRUE(aggregator->finish(call, combined).ok());
  EXPECT_EQ(combined, round.combined(kRightStage));
}

TEST(Powersgd, NothingOverflows) {
  const auto codec = codec_of("powersgd");
  std::vector<FloatVector> all(4, FloatVector(kValues, FLT_MAX / 4));
  all[3].assign(kValues, -FLT_MAX);
  const SystemClock clock;
  LocalExchange exchange(*codec, kValues, 4, false, clock);
  FloatVector sum(kValues);
  for (std::uint64_t round = 0; round < 3; ++round) {
    const auto traffic = exchange.play({.round = round}, {}, spans(all), sum);
    ASSERT_TRUE(traffic.ok()) << traffic.status().text();
    for (const float x : sum) ASSERT_TRUE(std::isfinite(x));
  }
}

TEST(Powersgd, HostileFactorsAreRefusedOrFinite) {
  const auto codec = codec_of("powersgd");
  const auto encoder = codec->make_encoder(kValues);
  const LoneRound good(*codec, *encoder, update(Pattern::normal, kValues, 0), 1);
  // Replaces one number of a stage by `lie` and decodes.
  const auto decode = [&](std::size_t stage, std::size_t place, float lie) {
    Bytes lying = good.payloads[stage];
    const std::size_t body = open_payload({}, lying)->body.size();
    std::memcpy(lying.data() + lying.size() - body + place * sizeof(lie), &lie, sizeof(lie));
    seal_payload({}, lying);
    const ByteSpan left = stage == 0 ? lying : good.payloads[0];
    FloatVector sum(kValues);
    const Status status = codec->decode({.round = {.round = 1}, .combined = std::span(&left, 1)},
                                        stage == 1 ? ByteSpan(lying) : good.spans[1], sum);
    for (const float x : sum) EXPECT_TRUE(!status.ok() || std::isfinite(x));
    return status.code();
  };
  for (const float lie : {INFINITY, -INFINITY, std::bit_cast<float>(0x7fc00000u)}) {
    EXPECT_EQ(decode(0, 0, lie), StatusCode::not_finite);
    EXPECT_EQ(decode(0, 5, lie), StatusCode::not_finite);
    EXPECT_EQ(decode(1, 5, lie), StatusCode::not_finite);
  }
  EXPECT_EQ(decode(0, 0, -1.0f), StatusCode::not_finite);
  EXPECT_EQ(decode(1, 0, 1.5f), StatusCode::not_finite);
  EXPECT_EQ(decode(0, 0, FLT_MAX), StatusCode::ok);
  EXPECT_EQ(decode(0, 5, -FLT_MAX), StatusCode::ok);
}

// A round refuses a bound, a factor or a raw value whose sum over all agents could overflow.
TEST(Powersgd, ARoundRefusesNumbersBeyondTheShareOfAnAgent) {
  constexpr std::uint32_t kAgents = 4;
  constexpr std::uint32_t kAll = 64 * 48 + 7;
  const LayerRun layers[] = {{.offset = 0, .count = 64 * 48, .rows = 64},
                             {.offset = 64 * 48, .count = 7, .rows = 1}};
  const RoundContext context = {.round = 1, .agents = kAgents, .layers = layers};
  const auto codec = codec_of("powersgd");
  const auto encoder = codec->make_encoder(kAll);
  const FloatVector values = update(Pattern::normal, kAll, 0);
  Bytes left;
  Bytes right;
  ASSERT_TRUE(encoder->encode({.round = context}, values, left).ok());
  const ByteSpan combined = left;
  ASSERT_TRUE(encoder->encode({.round = context, .combined = {&combined, 1}}, values, right).ok());
  // Replaces one number of a stage, and adds the payload.
  const auto add = [&](std::size_t stage, std::size_t place, float number) {
    Bytes bytes = stage == kLeftStage ? left : right;
    const std::size_t body = open_payload({}, bytes)->body.size();
    std::memcpy(bytes.data() + bytes.size() - body + place * sizeof(number), &number,
                sizeof(number));
    seal_payload({}, bytes);
    StageCall call = {.round = context, .combined = {&combined, stage}, .finite_only = true};
    const auto aggregator = codec->make_aggregator(stage, kAll);
    EXPECT_TRUE(aggregator->begin(call, {}).ok());
    return aggregator->add(call, bytes).code();
  };
  constexpr std::size_t kRaw = 4 * 48;  // the first raw value, behind the right factors
  const float most = FLT_MAX / 2 / kAgents;
  for (const float number : {FLT_MAX, std::nextafter(most, FLT_MAX), INFINITY}) {
    EXPECT_EQ(add(kLeftStage, 0, number), StatusCode::not_finite) << number;
    EXPECT_EQ(add(kLeftStage, 5, -number), StatusCode::not_finite) << number;
    EXPECT_EQ(add(kRightStage, kRaw, -number), StatusCode::not_finite) << number;
  }
  EXPECT_EQ(add(kLeftStage, 0, most), StatusCode::ok);
  EXPECT_EQ(add(kLeftStage, 5, -most), StatusCode::ok);
  EXPECT_EQ(add(kRightStage, kRaw, -most), StatusCode::ok);
}

// The largest updates that an agent may have are no fault.
TEST(Powersgd, NoEncoderWritesNumbersBeyondItsShare) {
  const auto codec = codec_of("powersgd");
  for (const std::uint32_t agents : {1u, 3u, 4u, 1023u}) {
    const FloatVector values(kValues, FLT_MAX / 2 / static_cast<float>(agents));
    const RoundContext context = {.round = 1, .agents = agents};
    const auto encoder = codec->make_encoder(kValues);
    Bytes payload;
    ASSERT_TRUE(encoder->encode({.round = context}, values, payload).ok());
    const StageCall call = {.round = context, .finite_only = true};
    const auto aggregator = codec->make_aggregator(kLeftStage, kValues);
    ASSERT_TRUE(aggregator->begin(call, {}).ok());
    EXPECT_TRUE(aggregator->add(call, payload).ok()) << agents;
  }
}

// These values fix the format and the first draw. A change of them changes the meaning of stored
// payloads.
TEST(Powersgd, Golden) {
  const auto codec = codec_of("powersgd:rank=2");
  const auto encoder = codec->make_encoder(200);
  const LoneRound round(*codec, *encoder, update(Pattern::integers, 200, 0), 3);
  EXPECT_EQ(checksum32(round.payloads[0]), 3850954341u);
  EXPECT_EQ(checksum32(round.payloads[1]), 3039645312u);
  EXPECT_EQ(checksum32(bytes_of(std::span<const float>(round.decoded))), 4105717512u);
}

}  // namespace
}  // namespace tributary::lowrank
