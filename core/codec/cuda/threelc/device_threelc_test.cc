// Compares a device's bytes with those of the scalar specification. Built for the emulated device
// everywhere and, where nvcc is, for a GPU. Skipped, with the reason, if the device is not
// available.
#include "core/codec/cuda/threelc/loops.h"

#include <gtest/gtest.h>

#include "core/codec/codec_testing.h"
#include "core/codec/cuda/device_testing.h"
#include "core/codec/threelc/zero_run.h"

namespace tributary::TRIBUTARY_DEVICE {
namespace {

using codec_testing::kPatterns;
using codec_testing::Pattern;
using threelc::Layout;
using threelc::TernaryOptions;

constexpr StageCall kCall = {.round = {.job_seed = 3, .round = 2, .bucket = 5, .agent = 1}};

class DeviceTernary : public DeviceTest {
 protected:
  // Compares the payload's body and the decoded values on both queues.
  void compare(const TernaryOptions& options, const FloatVector& update,
               std::vector<LayerRun> layers = {}) {
    StageCall call = kCall;
    call.round.layers = layers;
    call.execution.backend = Backend::scalar;
    const auto codec = threelc::make_ternary_codec("threelc", options);
    const auto n = static_cast<std::uint32_t>(update.size());
    Bytes payload;
    ASSERT_TRUE(codec->make_encoder(n)->encode(call, update, payload).ok());
    const ByteSpan body = open_payload({}, payload)->body;
    const Layout layout = *Layout::make(call.round, n, options.layout());
    const FloatVector start = codec_testing::update(Pattern::normal, n, 9);
    FloatVector decoded(n);
    FloatVector sum = start;
    ASSERT_TRUE(codec->decode(call, payload, decoded).ok());
    ASSERT_TRUE(codec->decode_add(call, payload, {}, sum).ok());
    for (const Queue* const queue : queues()) {
      ASSERT_EQ(encoded(*queue, options, layout, update), Bytes(body.begin(), body.end()));
      ASSERT_EQ(bits_after(*queue, options, layout, body, start, false),
                codec_testing::bits_of(decoded));
      ASSERT_EQ(bits_after(*queue, options, layout, body, start, true),
                codec_testing::bits_of(sum));
    }
  }

  // A bucket whose packed byte i is not the zero byte if others[i]; five times as many values.
  void compare_runs(const std::vector<bool>& others) {
    FloatVector update(others.size() * threelc::Quartic::kDigits, 0.0f);
    for (std::size_t i = 0; i < others.size(); ++i) update[i] = others[i] ? 1.0f : 0.0f;
    compare({.zero_run = true}, update);
  }

  Bytes encoded(const Queue& queue, const TernaryOptions& options, const Layout& layout,
                const FloatVector& update) {
    Workspace space = this->space();
    const auto x = space.upload(std::span(update));
    const auto encoding = prepare_ternary_encoding(space, options, layout, draws(), *x);
    EXPECT_TRUE(encoding.ok()) << encoding.status().text();
    Status status = encode_ternary(queue, *encoding);
    if (status.ok()) status = queue.wait();
    EXPECT_TRUE(status.ok()) << status.text();
    TernaryResult result = {};
    EXPECT_TRUE(space.download(encoding->result, std::span(&result, 1)).ok());
    EXPECT_TRUE(space.wait().ok());
    Bytes body(layout.chunks_at() + (options.zero_run ? result.chunk_bytes : layout.packed_bytes));
    EXPECT_TRUE(space.download(encoding->body, std::span(body)).ok());
    EXPECT_TRUE(space.wait().ok());
    return body;
  }

  static StreamKey draws() {
    return stream_key({.job_seed = kCall.round.job_seed,
                       .round = kCall.round.round,
                       .bucket = kCall.round.bucket,
                       .purpose = DrawPurpose::rounding,
                       .agent = kCall.round.agent});
  }

 private:
  std::vector<std::uint32_t> bits_after(const Queue& queue, const TernaryOptions& options,
                                        const Layout& layout, ByteSpan body,
                                        const FloatVector& start, bool add) {
    Workspace space = this->space();
    const auto in = space.upload(body);
    const auto x = space.upload(std::span(start));
    const auto decoding =
        prepare_ternary_decoding(space, options, layout, *in, body.size(), add, *x);
    EXPECT_TRUE(decoding.ok()) << decoding.status().text();
    Status status = decode_ternary(queue, *decoding);
    if (status.ok()) status = queue.wait();
    EXPECT_TRUE(status.ok()) << status.text();
    FloatVector values(start.size());
    EXPECT_TRUE(space.download(*x, std::span(values)).ok());
    EXPECT_TRUE(space.wait().ok());
    return codec_testing::bits_of(values);
  }
};

constexpr TernaryOptions kThreelc = {.sparsity = 1.25f, .clip = 2.5, .zero_run = true};
constexpr TernaryOptions kNoRuns = {.clip = 1.5};
constexpr TernaryOptions kStoch3 = {.random_digits = true};
constexpr TernaryOptions kTerngrad = {.random_digits = true, .clip = 2.5, .two_bit = true};

TEST_F(DeviceTernary, BytesAreTheSpecifications) {
  for (const Pattern pattern : kPatterns) {
    for (const std::size_t size : {0u, 1u, 4u, 31u, 33u, 1001u, 6007u}) {
      SCOPED_TRACE(testing::Message() << size << " values, pattern " << static_cast<int>(pattern));
      const FloatVector update = codec_testing::update(pattern, size, 0);
      for (const TernaryOptions& options : {kThreelc, kNoRuns, kStoch3, kTerngrad}) {
        compare(options, update);
        if (HasFailure()) return;
      }
    }
  }
}

// Layers that begin at any value, that are not packed, and that are divided into blocks.
TEST_F(DeviceTernary, LayersHaveTheirOwnUnit) {
  const std::vector<LayerRun> layers = {
      {.offset = 0, .count = 701},  {.offset = 701, .count = 5},   {.offset = 706, .count = 990},
      {.offset = 1696, .count = 0}, {.offset = 1696, .count = 40}, {.offset = 1736, .count = 64}};
  for (const Pattern pattern : {Pattern::normal, Pattern::spike, Pattern::extremes}) {
    const FloatVector update = codec_testing::update(pattern, 1800, 0);
    for (TernaryOptions options : {kThreelc, kNoRuns, kStoch3, kTerngrad}) {
      options.bypass = 41;
      compare(options, update, layers);
      options.block = 70;
      compare(options, update, layers);
    }
  }
}

// More than a chunk, which has several tiles and turns of the narrow queue.
TEST_F(DeviceTernary, ChunksEndTheirRuns) {
  constexpr std::size_t kValues = threelc::kChunkBytes * threelc::Quartic::kDigits + 40'003;
  for (const Pattern pattern : {Pattern::zeros, Pattern::normal, Pattern::spike}) {
    const FloatVector update = codec_testing::update(pattern, kValues, 0);
    for (const TernaryOptions& options : {kThreelc, kTerngrad}) compare(options, update);
  }
}

TEST_F(DeviceTernary, RunsContinueInTheNextTile) {
  const std::size_t tile = ternary_tile_bytes();
  const std::size_t bytes = 3 * tile + 20;
  // All runs that begin before the end of a tile and end behind it.
  for (const std::size_t before : {0u, 1u, 13u, 14u, 15u}) {
    for (const std::size_t behind : {0u, 1u, 13u, 14u}) {
      std::vector<bool> others(bytes, true);
      for (std::size_t i = tile - before; i < tile + behind; ++i) others[i] = false;
      SCOPED_TRACE(testing::Message() << before << " zero bytes before the boundary, " << behind);
      compare_runs(others);
      // The run continues over a whole tile.
      for (std::size_t i = tile; i < 2 * tile + behind; ++i) others[i] = false;
      compare_runs(others);
      if (HasFailure()) return;
    }
  }
}

TEST_F(DeviceTernary, RunsOfAnyDensity) {
  const StreamKey key = stream_key({.purpose = DrawPurpose::synthetic_data});
  for (const std::uint32_t zeros_of_4096 : {0u, 2000u, 3900u, 4090u, 4095u, 4096u}) {
    std::vector<bool> others(2 * ternary_tile_bytes() + 1237);
    for (std::size_t i = 0; i < others.size(); ++i) {
      others[i] = random_bits(key, static_cast<std::uint32_t>(i)) % 4096 >= zeros_of_4096;
    }
    compare_runs(others);
  }
}

// Their places are found in several turns of one block.
TEST_F(DeviceTernary, ManyTilesAreInOrder) {
  constexpr std::uint32_t kBlock = 64;
  const TernaryOptions options = {.sparsity = 1.9f, .zero_run = true, .block = kBlock};
  const std::size_t tiles = ternary_tile_bytes() / 4 + 5;
  const FloatVector update = codec_testing::update(Pattern::normal, tiles * kBlock, 0);
  const auto n = static_cast<std::uint32_t>(update.size());
  const auto codec = threelc::make_ternary_codec("threelc", options);
  Bytes payload;
  ASSERT_TRUE(codec->make_encoder(n)->encode(kCall, update, payload).ok());
  const ByteSpan body = open_payload({}, payload)->body;
  EXPECT_EQ(encoded(queue(), options, *Layout::make({}, n, options.layout()), update),
            Bytes(body.begin(), body.end()));
}

// With 5/8 of a root mean square of 2^23 + 2, M is halfway between two floats: a sum of squares in
// another order would not decide it.
TEST_F(DeviceTernary, AnUndecidedUnitIsFoundInTheSpecifiedOrder) {
  compare({.clip = 0.625}, FloatVector(5000, 0x1p23f + 2));
}

TEST_F(DeviceTernary, SquaresAreAddedInTheSpecifiedOrder) {
  constexpr std::size_t kChunkValues = threelc::kChunkBytes * threelc::Quartic::kDigits;
  const FloatVector update = codec_testing::update(Pattern::lognormal, kChunkValues + 5003, 0);
  const Layout layout = *Layout::make({}, update.size(), kThreelc.layout());
  Workspace space = this->space();
  const auto x = space.upload(std::span(update));
  auto encoding = prepare_ternary_encoding(space, kThreelc, layout, {}, *x);
  ASSERT_TRUE(encoding.ok());
  encoding->format.order_margin = 0.5;
  ASSERT_TRUE(encode_ternary(queue(), *encoding).ok());
  ASSERT_TRUE(queue().wait().ok());
  std::vector<double> sums(2);  // of the chunks
  ASSERT_TRUE(space.download(encoding->squares, std::span(sums)).ok());
  ASSERT_TRUE(space.wait().ok());
  const auto& spec = threelc::scalar_kernels();
  EXPECT_EQ(sums[0], spec.sum_of_squares(update.data(), kChunkValues));
  EXPECT_EQ(sums[1], spec.sum_of_squares(update.data() + kChunkValues, 5003));
}

TEST_F(DeviceTernary, SquaresOfTilesAreAlmostExact) {
  for (const Pattern pattern : kPatterns) {
    const FloatVector update = codec_testing::update(pattern, 4003, 0);
    const Layout layout = *Layout::make({}, update.size(), kThreelc.layout());
    Workspace space = this->space();
    const auto x = space.upload(std::span(update));
    auto encoding = prepare_ternary_encoding(space, kThreelc, layout, {}, *x);
    ASSERT_TRUE(encoding.ok());
    encoding->format.order_margin = 0;  // nothing else is written to the sums
    ASSERT_TRUE(encode_ternary(queue(), *encoding).ok());
    ASSERT_TRUE(queue().wait().ok());
    std::vector<double> sums(1);
    ASSERT_EQ(encoding->tables.tile_count, 1u);
    ASSERT_TRUE(space.download(encoding->squares, std::span(sums)).ok());
    ASSERT_TRUE(space.wait().ok());
    const double expected = threelc::scalar_kernels().sum_of_squares(update.data(), update.size());
    EXPECT_NEAR(sums[0], expected, expected * kOrderMargin / 8) << static_cast<int>(pattern);
  }
}

TEST_F(DeviceTernary, NotFiniteValuesAreSeen) {
  for (const std::size_t at : {0u, 3u, 1000u, 1049u}) {
    FloatVector update = codec_testing::update(Pattern::normal, 1050, 0);
    update[at] = std::bit_cast<float>(0x7f800000u);
    const std::vector<LayerRun> layers = {{.offset = 0, .count = 50},
                                          {.offset = 50, .count = 1000}};
    TernaryOptions options = kThreelc;
    options.bypass = 60;
    const Layout layout = *Layout::make({.layers = layers}, 1050, options.layout());
    const auto loops = make_ternary_loops(workspaces());
    Bytes body(layout.chunks_at() + layout.packed_bytes);
    const auto result = loops->encode(options, layout, {}, update, body);
    ASSERT_TRUE(result.ok()) << result.status().text();
    EXPECT_FALSE(result->finite) << at;
  }
}

}  // namespace
}  // namespace tributary::TRIBUTARY_DEVICE
