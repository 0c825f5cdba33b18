// Layers and blocks of a bucket: each has its own M, and small layers are not packed.
#include <gtest/gtest.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "core/codec/threelc/ternary_testing.h"

namespace tributary::threelc {
namespace {

TEST(Threelc, EveryLayerHasItsOwnMAndSmallOnesTravelAsTheyAre) {
  const auto codec = codec_of("threelc:s=1.5,bypass=30");
  const FloatVector x = layered_update();
  const RoundContext round = {.layers = kLayers};
  const FloatVector decoded = decode(*codec, encode(*codec, x, round), x.size(), round);
  const auto part = [](const FloatVector& all, std::size_t begin, std::size_t end) {
    return FloatVector(all.begin() + static_cast<std::ptrdiff_t>(begin),
                       all.begin() + static_cast<std::ptrdiff_t>(end));
  };
  EXPECT_EQ(part(decoded, 100, 105), part(x, 100, 105));
  EXPECT_EQ(part(decoded, 1105, 1125), part(x, 1105, 1125));
  for (const auto& [begin, end] : {std::pair{0u, 100u}, std::pair{105u, 1105u}}) {
    const FloatVector layer = part(x, begin, end);
    EXPECT_EQ(part(decoded, begin, end), decode(*codec, encode(*codec, layer), layer.size()))
        << "a layer in a bucket is not what it is alone";
  }
}

TEST(Threelc, EveryBlockOfALayerHasItsOwnM) {
  const auto codec = codec_of("threelc:s=1.5,bypass=30,block=64");
  const FloatVector x = layered_update();
  const RoundContext round = {.layers = kLayers};
  const FloatVector decoded = decode(*codec, encode(*codec, x, round), x.size(), round);
  const auto whole = codec_of("threelc:s=1.5,bypass=0");
  for (const LayerRun& layer : kLayers) {
    for (std::size_t begin = 0; begin < layer.count; begin += 64) {
      const std::size_t count = std::min<std::size_t>(64, layer.count - begin);
      const auto at = static_cast<std::ptrdiff_t>(layer.offset + begin);
      const FloatVector block(x.begin() + at, x.begin() + at + static_cast<std::ptrdiff_t>(count));
      const FloatVector expected =
          layer.count < 30 ? block : decode(*whole, encode(*whole, block), block.size());
      EXPECT_TRUE(std::equal(expected.begin(), expected.end(), decoded.begin() + at))
          << "block at value " << at;
    }
  }
}

// One value far above the others delays only the values of its own block.
TEST(Threelc, AnOutlierKeepsOnlyItsOwnBlockWaiting) {
  FloatVector x(1000, 0.01f);
  x[500] = 1;
  const auto sent = [&](const char* spec) {
    const auto codec = codec_of(spec);
    return std::ranges::count_if(decode(*codec, encode(*codec, x), x.size()),
                                 [](float value) { return value != 0; });
  };
  EXPECT_EQ(sent("threelc:s=1.75,clip=0"), 1);
  EXPECT_EQ(sent("threelc:s=1.75,clip=0,block=100"), 901);
}

TEST(Threelc, ABlockIsNoneOrOf64ValuesAndMore) {
  for (const char* spec : {"threelc:block=0", "threelc:block=64", "threelc:block=1048576"}) {
    EXPECT_TRUE(make_codec(spec).ok()) << spec;
  }
  for (const char* spec : {"threelc:block=1", "threelc:block=63", "threelc:block=1048577"}) {
    EXPECT_EQ(make_codec(spec).status().code(), StatusCode::invalid_argument) << spec;
  }
}

TEST(Threelc, ABucketWithoutLayersIsOne) {
  const FloatVector x = codec_testing::update(Pattern::normal, 29, 0);
  const auto codec = codec_of("threelc:bypass=30");
  EXPECT_EQ(decode(*codec, encode(*codec, x), x.size()), x);
  const LayerRun all[] = {{.offset = 0, .count = 1000}};
  const FloatVector y = codec_testing::update(Pattern::normal, 1000, 0);
  EXPECT_EQ(encode(*codec, y), encode(*codec, y, {.layers = all}));
}

TEST(Threelc, LayersThatAreNotTheBucketsAreRefused) {
  const auto codec = codec_of("threelc");
  const auto encoder = codec->make_encoder(1000);
  const FloatVector x(1000, 1.0f);
  const LayerRun gap[] = {{.offset = 0, .count = 400}, {.offset = 500, .count = 500}};
  const LayerRun short_of_it[] = {{.offset = 0, .count = 400}, {.offset = 400, .count = 599}};
  const LayerRun beyond[] = {{.offset = 0, .count = 1001}};
  for (const auto& layers : {std::span<const LayerRun>(gap), std::span<const LayerRun>(short_of_it),
                             std::span<const LayerRun>(beyond)}) {
    Bytes payload;
    EXPECT_EQ(encoder->encode({.round = {.layers = layers}}, x, payload).code(),
              StatusCode::invalid_argument);
  }
}

// Layers of several chunks between layers that are not packed.
TEST(Threelc, BackendsAndThreadsAgreeOnLayers) {
  std::vector<LayerRun> layers;
  std::uint32_t end = 0;
  for (const std::uint32_t count : {7u, 300'000u, 255u, 256u, 4000u, 1u, 290'000u}) {
    layers.push_back({.offset = end, .count = count});
    end += count;
  }
  const FloatVector x = codec_testing::update(Pattern::lognormal, end, 0);
  ThreadPool pool(3);
  for (const char* spec : {"threelc:s=1.2", "threelc:bypass=0,zero_run=off",
                           "threelc:s=1.75,block=100", "stoch3", "terngrad"}) {
    const auto codec = codec_of(spec);
    const RoundContext round = {.layers = layers};
    const Bytes expected = encode(*codec, x, round, {.backend = Backend::scalar});
    EXPECT_EQ(encode(*codec, x, round), expected) << spec;
    EXPECT_EQ(encode(*codec, x, round, {.pool = &pool}), expected) << spec;
    FloatVector threaded(x.size());
    EXPECT_TRUE(
        codec->decode({.round = round, .execution = {.pool = &pool}}, expected, threaded).ok());
    EXPECT_EQ(threaded, decode(*codec, expected, x.size(), round)) << spec;
  }
}

}  // namespace
}  // namespace tributary::threelc
