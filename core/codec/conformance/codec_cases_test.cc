// One table of cases that every codec of the registry must pass.
#include <gtest/gtest.h>

#include <hwy/targets.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <vector>

#include "core/base/sanitized_testing.h"
#include "core/codec/chunks.h"
#include "core/codec/codec_testing.h"
#include "core/codec/cuda/codec_device.h"

namespace tributary {
namespace {

using codec_testing::codec_of;
using codec_testing::kPatterns;
using codec_testing::Pattern;
using codec_testing::Round;
using codec_testing::spans;
using codec_testing::Trace;
using codec_testing::updates;

class CodecCases : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override { ASSERT_NE(codec_ = codec_of(GetParam()), nullptr); }
  std::unique_ptr<Codec> codec_;
};

// Sizes at and next to every boundary of a block, a vector or a chunk. Under a sanitizer, of
// the large ones an exact multiple and one value more: both ends of a buffer.
const std::vector<std::size_t> kSizes =
    kSanitized ? std::vector<std::size_t>{0,  1,  2,   3,   7,   15,  16,  17,   31,   33,  63,
                                          64, 65, 127, 128, 129, 255, 257, 1000, 4097, 8192}
               : std::vector<std::size_t>{0,    1,    2,    3,    7,    15,   16,   17,   31,
                                          33,   63,   64,   65,   127,  128,  129,  255,  257,
                                          1000, 4095, 4096, 4097, 8191, 8192, 8193, 12289};
const std::vector<std::size_t> kChunkSizes =
    kSanitized ? std::vector<std::size_t>{kChunkValues + 1, 2 * kChunkValues + 77}
               : std::vector<std::size_t>{kChunkValues - 1, kChunkValues, kChunkValues + 1,
                                          2 * kChunkValues + 77};
const std::vector<std::size_t> kThreads =
    kSanitized ? std::vector<std::size_t>{2, 5} : std::vector<std::size_t>{1, 2, 5};

TEST_P(CodecCases, CanonicalSpecMakesTheSameCodec) {
  const auto again = codec_of(codec_->spec());
  ASSERT_NE(again, nullptr);
  EXPECT_EQ(again->spec(), codec_->spec());
  EXPECT_LE(codec_->spec().size(), kSpecBytesMax);
}

// --- several layers in one bucket -------------------------------------------------------------

// Layers of 1 value, of a prime number of values, a matrix, a convolution's filters, a matrix that
// is too small for two factors, and a large one.
const std::vector<LayerRun> kSeveralLayers = {{0, 1, 1},           {1, 997, 1},  {998, 40 * 30, 40},
                                              {2198, 16 * 72, 16}, {3350, 4, 2}, {3354, 1, 1},
                                              {3355, 64 * 65, 64}};
constexpr std::size_t kSeveralValues = 3355 + 64 * 65;

// As NothingIsLostOverRounds, for every codec that reads layers.
TEST_P(CodecCases, NothingIsLostOverRoundsInSeveralLayers) {
  if (!codec_->keeps_error()) return;
  constexpr std::uint32_t kRounds = 3;
  const SystemClock clock;
  for (const Pattern pattern : {Pattern::lognormal, Pattern::spike}) {
    const auto all = updates(pattern, kSeveralValues, 2);
    LocalExchange exchange(*codec_, kSeveralValues, 2, true, clock);
    std::vector<double> account(kSeveralValues, 0.0);
    double largest = 0;
    FloatVector sum(kSeveralValues);
    for (std::uint32_t round = 0; round < kRounds; ++round) {
      const auto traffic =
          exchange.play({.round = round, .layers = kSeveralLayers}, {}, spans(all), sum);
      ASSERT_TRUE(traffic.ok()) << traffic.status().text();
      for (std::size_t i = 0; i < sum.size(); ++i) account[i] += static_cast<double>(sum[i]);
    }
    for (std::size_t i = 0; i < sum.size(); ++i) {
      account[i] -= kRounds * (static_cast<double>(all[0][i]) + static_cast<double>(all[1][i]));
      for (const std::uint32_t agent : {0u, 1u}) {
        account[i] += static_cast<double>(exchange.residual(agent)[i]);
        largest = std::max(largest, std::abs(static_cast<double>(exchange.residual(agent)[i])) +
                                        std::abs(static_cast<double>(all[agent][i])));
      }
      if (!exchange.aggregator_residual().empty()) {
        account[i] += static_cast<double>(exchange.aggregator_residual()[i]);
      }
    }
    for (std::size_t i = 0; i < sum.size(); ++i) {
      ASSERT_NEAR(account[i], 0, largest * 0x1p-18) << "value " << i;
    }
  }
}

// A codec of whole layers treats each layer as if it were alone in a bucket; the result of a layer
// does not depend on its neighbours. Random draws have addresses in the bucket, and so have other
// values.
TEST_P(CodecCases, NeighboursInABucketDoNotChangeALayer) {
  if (!codec_->whole_layers() || !codec_->contracts()) return;
  const auto all = updates(Pattern::lognormal, kSeveralValues, 2);
  const SystemClock clock;
  LocalExchange together(*codec_, kSeveralValues, 2, false, clock);
  FloatVector sum(kSeveralValues);
  ASSERT_TRUE(together.play({.layers = kSeveralLayers}, {}, spans(all), sum).ok());
  for (const LayerRun& layer : kSeveralLayers) {
    // A low rank draws its first factor at an address that depends on the layer's position.
    if (layer.rows > 1) continue;
    LocalExchange alone(*codec_, layer.count, 2, false, clock);
    std::vector<std::span<const float>> parts;
    for (const FloatVector& one : all) {
      parts.push_back(std::span(one).subspan(layer.offset, layer.count));
    }
    FloatVector of_layer(layer.count);
    const LayerRun first = {.offset = 0, .count = layer.count, .rows = layer.rows};
    ASSERT_TRUE(alone.play({.layers = {&first, 1}}, {}, parts, of_layer).ok());
    EXPECT_EQ(codec_testing::bits_of(of_layer),
              codec_testing::bits_of(std::span(sum).subspan(layer.offset, layer.count)))
        << "the layer at value " << layer.offset;
  }
}

// The number of values is that of the bucket, so an encoder finds out before it reads beyond it.
TEST_P(CodecCases, LayersThatDoNotCoverTheBucketAreRefused) {
  if (!codec_->whole_layers()) return;
  const FloatVector x = codec_testing::update(Pattern::normal, 100, 0);
  const std::vector<std::vector<LayerRun>> wrong = {
      {{0, 99, 1}},                         // ends too early
      {{0, 101, 1}},                        // ends too late
      {{1, 99, 1}},                         // begins too late
      {{0, 50, 5}, {51, 49, 7}},            // has a gap
      {{0, 60, 1}, {50, 50, 1}},            // overlaps
      {{0, 0xffffffffu, 1}, {0, 100, 10}},  // an overflow
  };
  for (const std::vector<LayerRun>& layers : wrong) {
    Bytes payload;
    const auto encoder = codec_->make_encoder(100);
    const Status status = encoder->encode({.round = {.layers = layers}}, x, payload);
    EXPECT_EQ(status.code(), StatusCode::invalid_argument) << status.text();
  }
}

// One agent, so that the sum consists of the agent's values alone.
TEST_P(CodecCases, LosslessCodecsCarryEveryBit) {
  if (codec_->lossy()) return;
  for (const std::size_t size : kSizes) {
    FloatVector update = codec_testing::update(Pattern::normal, size, 0);
    if (size > 3) {
      // Patterns that arithmetic would change: a quiet NaN, an infinity, a negative zero and a NaN
      // payload.
      update[0] = std::numeric_limits<float>::quiet_NaN();
      update[1] = -std::numeric_limits<float>::infinity();
      update[2] = -0.0f;
      update[3] = std::bit_cast<float>(0xffc12345u);
    }
    const Trace trace = codec_testing::play(*codec_, {update}, 1, {});
    ASSERT_EQ(trace.error, "");
    EXPECT_EQ(trace.sums[0], codec_testing::bits_of(update)) << size << " values";
  }
}

// The sent values and the residuals add up to the updates, as error feedback requires. A codec
// whose decoded values differ from its accounting fails here.
TEST_P(CodecCases, NothingIsLostOverRounds) {
  if (!codec_->keeps_error()) return;
  constexpr std::uint32_t kRounds = 4;
  constexpr std::uint32_t kAgents = 3;
  const SystemClock clock;
  for (const Pattern pattern : kPatterns) {
    for (const std::size_t size : kSizes) {
      const auto all = updates(pattern, size, kAgents);
      LocalExchange exchange(*codec_, static_cast<std::uint32_t>(size), kAgents, true, clock);
      // account: decoded sums plus the final residuals. moved: the total magnitude that passed
      // through float32 sums, for the tolerance.
      std::vector<double> account(size, 0.0);
      std::vector<double> moved(size, 0.0);
      FloatVector sum(size);
      for (std::uint32_t round = 0; round < kRounds; ++round) {
        const auto traffic = exchange.play({.round = round}, {}, spans(all), sum);
        ASSERT_TRUE(traffic.ok()) << traffic.status().text();
        for (std::size_t i = 0; i < size; ++i) {
          account[i] += static_cast<double>(sum[i]);
          moved[i] += std::abs(static_cast<double>(sum[i]));
          for (std::uint32_t agent = 0; agent < kAgents; ++agent) {
            moved[i] += std::abs(static_cast<double>(exchange.residual(agent)[i]));
          }
        }
      }
      for (std::size_t i = 0; i < size; ++i) {
        double truth = 0;
        for (std::uint32_t agent = 0; agent < kAgents; ++agent) {
          truth += kRounds * static_cast<double>(all[agent][i]);
          moved[i] += kRounds * std::abs(static_cast<double>(all[agent][i]));
          account[i] += static_cast<double>(exchange.residual(agent)[i]);
        }
        if (!exchange.aggregator_residual().empty()) {
          account[i] += static_cast<double>(exchange.aggregator_residual()[i]);
        }
        // Every intermediate float32 sum was rounded, and the rounding error is proportional to the
        // sum.
        ASSERT_NEAR(account[i], truth, kRounds * moved[i] * 0x1p-22 + 0x1p-140)
            << "value " << i << " of " << size << ", pattern " << static_cast<int>(pattern);
      }
    }
  }
}

// Two rounds, so that residuals and encoders with memory are compared as well.
TEST_P(CodecCases, ScalarAndSimdGiveTheSameBytes) {
  const std::int64_t targets = hwy::SupportedTargets();
  for (const Pattern pattern : kPatterns) {
    // Compressors are slow and have no SIMD code of this project, so one pattern is enough.
    if (!codec_->lossy() && pattern != Pattern::extremes) continue;
    for (const std::size_t size : kSizes) {
      const auto all = updates(pattern, size, 3);
      const Trace expected = codec_testing::play(*codec_, all, 2, {.backend = Backend::scalar});
      for (std::int64_t rest = targets; rest != 0; rest &= rest - 1) {
        const std::int64_t target = rest & -rest;
        hwy::SetSupportedTargetsForTest(target);
        const Trace got = codec_testing::play(*codec_, all, 2, {.backend = Backend::simd});
        hwy::SetSupportedTargetsForTest(0);
        ASSERT_TRUE(got == expected) << hwy::TargetName(target) << ", " << size
                                     << " values, pattern " << static_cast<int>(pattern);
      }
    }
  }
}

// As ScalarAndSimdGiveTheSameBytes, on the emulated device. It is slow, and the kernels have tests
// of their own, so a few sizes and patterns are enough. Codecs without kernels use the host.
TEST_P(CodecCases, HostAndDeviceGiveTheSameBytes) {
  const auto device = emulated::make_codec_device();
  device->report_errors_to([](const Status& error) { ADD_FAILURE() << error.text(); });
  for (const Pattern pattern : {Pattern::lognormal, Pattern::spike, Pattern::extremes}) {
    if (!codec_->lossy() && pattern != Pattern::extremes) continue;
    for (const std::size_t size : {1u, 129u, 4097u}) {
      const auto all = updates(pattern, size, 3);
      const Trace expected = codec_testing::play(*codec_, all, 2, {.backend = Backend::scalar});
      const Trace got = codec_testing::play(*codec_, all, 2, {.device = device.get()});
      ASSERT_TRUE(got == expected) << size << " values, pattern " << static_cast<int>(pattern);
    }
  }
}

// Sizes next to multiples of a chunk, where a division among threads could differ.
TEST_P(CodecCases, EveryNumberOfThreadsGivesTheSameBytes) {
  for (const std::size_t size : kChunkSizes) {
    const auto all = updates(Pattern::lognormal, size, 2);
    const Trace expected = codec_testing::play(*codec_, all, 2, {.backend = Backend::scalar});
    EXPECT_EQ(expected.error, "");
    for (const std::size_t threads : kThreads) {
      ThreadPool pool(threads);
      const Trace got = codec_testing::play(*codec_, all, 2, {.pool = &pool});
      ASSERT_TRUE(got == expected) << threads << " threads, " << size << " values";
    }
  }
}

// The last element is also bad, and threads may find it first. The error must name the first one
// nevertheless.
TEST_P(CodecCases, NotFiniteInputIsRefusedByItsFirstElement) {
  if (codec_->carries_not_finite()) return;
  for (const std::size_t size : {1u, 65u, 4097u, 70'000u}) {
    for (const std::size_t bad : {std::size_t{0}, size / 2, size - 1}) {
      for (const float value :
           {std::numeric_limits<float>::infinity(), -std::numeric_limits<float>::infinity(),
            std::numeric_limits<float>::quiet_NaN()}) {
        FloatVector x = codec_testing::update(Pattern::normal, size, 0);
        x[bad] = value;
        x[size - 1] = value;
        for (const Backend backend : {Backend::scalar, Backend::simd}) {
          Bytes payload;
          const auto encoder = codec_->make_encoder(static_cast<std::uint32_t>(size));
          const Status status =
              encoder->encode({.round = {}, .execution = {.backend = backend}}, x, payload);
          ASSERT_EQ(status.code(), StatusCode::not_finite) << size << " values, bad " << bad;
          EXPECT_NE(status.text().find("element " + std::to_string(bad) + " "), std::string::npos)
              << status.text();
        }
      }
    }
  }
}

// In addition, no NaN or Inf stays in a residual, where it would spoil all later rounds.
TEST_P(CodecCases, NotFiniteInputThatIsCarriedArrivesAsItIs) {
  if (!codec_->carries_not_finite()) return;
  constexpr std::uint32_t kNotFinite[] = {0x7f800000u, 0xff800000u, 0x7fc00000u, 0x7f800001u,
                                          0xffc12345u};
  const SystemClock clock;
  for (const std::size_t size : {1u, 65u, 4097u, 70'000u}) {
    for (const std::uint32_t bits : kNotFinite) {
      FloatVector x = codec_testing::update(Pattern::normal, size, 0);
      x[size / 2] = x[size - 1] = std::bit_cast<float>(bits);
      LocalExchange exchange(*codec_, static_cast<std::uint32_t>(size), 1, true, clock);
      FloatVector sum(size);
      const auto traffic = exchange.play({}, {}, {{x}}, sum);
      ASSERT_TRUE(traffic.ok()) << traffic.status().text();
      for (const std::size_t i : {size / 2, size - 1}) {
        // Adding an empty residual may turn a signalling NaN into a quiet one.
        const std::uint32_t quiet = bits == 0x7f800001u ? 0x400000u : 0u;
        const std::uint32_t got = std::bit_cast<std::uint32_t>(sum[i]);
        ASSERT_TRUE(got == bits || got == (bits | quiet)) << size << " values, " << bits;
        if (!codec_->lossy()) continue;
        ASSERT_EQ(exchange.residual(0)[i], 0.0f);
        ASSERT_EQ(exchange.aggregator_residual()[i], 0.0f);
      }
    }
  }
}

// A round adds only numbers whose sum over all agents is finite. The refused payload leaves no
// trace.
TEST_P(CodecCases, ARoundAddsNoPayloadWithoutAFiniteSum) {
  if (!codec_->carries_not_finite()) return;
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  constexpr float kLargest = std::numeric_limits<float>::max();
  for (const std::size_t size : {1u, 65u, 4097u, 70'000u}) {
    const auto all = updates(Pattern::normal, size, 2);
    for (const float value : {std::numeric_limits<float>::quiet_NaN(), kInfinity, -kInfinity,
                              kLargest, -kLargest, 1e30f, 1e-42f}) {
      const bool added = std::abs(value) < 1e31f;
      FloatVector x = all[1];
      x[size - 1] = value;
      Round round(*codec_, all, 2);
      StageCall call = round.call(0);
      call.finite_only = true;
      Bytes payload;
      const auto encoder = codec_->make_encoder(static_cast<std::uint32_t>(size));
      ASSERT_TRUE(encoder->encode(call, x, payload).ok());
      const auto aggregator = codec_->make_aggregator(0, static_cast<std::uint32_t>(size));
      ASSERT_TRUE(aggregator->begin(call, {}).ok());
      ASSERT_TRUE(aggregator->add(call, round.payload(0, 0)).ok());
      const StatusCode code = aggregator->add(call, payload).code();
      ASSERT_EQ(code, added ? StatusCode::ok : StatusCode::not_finite) << value << " of " << size;
      if (added) continue;
      ASSERT_TRUE(aggregator->add(call, round.payload(0, 1)).ok());
      Bytes combined;
      ASSERT_TRUE(aggregator->finish(call, combined).ok());
      EXPECT_EQ(combined, round.combined(0)) << "the refused payload left a trace";
    }
  }
}

// Widths of sums depend on the planned number of agents, so one more could overflow.
TEST_P(CodecCases, AnAggregatorRefusesMoreAgentsThanPlanned) {
  const auto all = updates(Pattern::normal, 100, 2);
  Round round(*codec_, all, 2);
  const std::size_t last = round.last();
  const auto aggregator = codec_->make_aggregator(last, 100);
  ASSERT_TRUE(aggregator->begin(round.call(last), {}).ok());
  ASSERT_TRUE(aggregator->add(round.call(last), round.payload(last, 0)).ok());
  ASSERT_TRUE(aggregator->add(round.call(last), round.payload(last, 1)).ok());
  EXPECT_EQ(aggregator->add(round.call(last), round.payload(last, 0)).code(),
            StatusCode::resource_exhausted);
  EXPECT_EQ(aggregator->contributors(), 2u);
  Bytes combined;
  ASSERT_TRUE(aggregator->finish(round.call(last), combined).ok());
  EXPECT_EQ(combined, round.combined(last)) << "the refused payload left a trace";
}

// Two agents are added in a partial aggregate first, as in a tree. The result must equal the direct
// sum.
TEST_P(CodecCases, APartialSumCountsItsContributors) {
  if (codec_->aggregation() != Aggregation::sum) return;
  const auto all = updates(Pattern::integers, 300, 4);  // float32 adds these exactly
  Round round(*codec_, all, 4);
  const std::size_t last = round.last();
  const StageCall call = round.call(last);
  const auto left = codec_->make_aggregator(last, 300);
  const auto right = codec_->make_aggregator(last, 300);
  ASSERT_TRUE(left->begin(call, {}).ok());
  ASSERT_TRUE(right->begin(call, {}).ok());
  for (const std::size_t agent : {0u, 1u}) {
    ASSERT_TRUE(left->add(call, round.payload(last, agent)).ok());
  }
  for (const std::size_t agent : {2u, 3u}) {
    ASSERT_TRUE(right->add(call, round.payload(last, agent)).ok());
  }
  Bytes partial;
  ASSERT_TRUE(right->finish(call, partial).ok());
  ASSERT_TRUE(left->add(call, partial).ok());
  EXPECT_EQ(left->contributors(), 4u);
  Bytes combined;
  ASSERT_TRUE(left->finish(call, combined).ok());
  EXPECT_EQ(combined, round.combined(last));
}

TEST_P(CodecCases, AnAggregateOfNothingIsAnError) {
  const auto aggregator = codec_->make_aggregator(0, 10);
  ASSERT_TRUE(aggregator->begin({.round = {}}, {}).ok());
  Bytes combined;
  EXPECT_EQ(aggregator->finish({.round = {}}, combined).code(), StatusCode::unavailable);
}

INSTANTIATE_TEST_SUITE_P(Defaults, CodecCases, testing::ValuesIn(codec_testing::default_specs()),
                         codec_testing::test_name);
// Blocks of several widths, and some that are not sent.
INSTANTIATE_TEST_SUITE_P(SharedRate, CodecCases, testing::Values("thc:rate=1.5,block=256"),
                         codec_testing::test_name);
INSTANTIATE_TEST_SUITE_P(SlowOthers, CodecCases, testing::ValuesIn(codec_testing::other_specs()),
                         codec_testing::test_name);

}  // namespace
}  // namespace tributary
