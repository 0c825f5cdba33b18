// Tests of dividing a model into buckets: every value once, in order, within the bound, and without
// cutting layers that fit.
#include "core/update/buckets.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "core/base/random.h"

namespace tributary {
namespace {

// A map with one-dimensional layers of these sizes.
LayerMap map_of(const std::vector<std::uint64_t>& counts) {
  std::vector<LayerShape> shapes;
  for (std::uint64_t count : counts) shapes.push_back({std::to_string(shapes.size()), {count}});
  return std::move(LayerMap::make(std::move(shapes))).value();
}

std::vector<std::uint64_t> sizes(const std::vector<std::uint64_t>& layers,
                                 std::uint64_t values_max) {
  const auto buckets = plan_buckets(map_of(layers), {.values_max = values_max});
  EXPECT_TRUE(buckets.ok()) << buckets.status().text();
  std::vector<std::uint64_t> counts;
  for (const Bucket& bucket : *buckets) counts.push_back(bucket.count);
  return counts;
}

using Sizes = std::vector<std::uint64_t>;

TEST(Buckets, KeepWholeLayersTogetherWhileTheyFit) {
  EXPECT_EQ(sizes({40, 50, 10, 30}, 100), (Sizes{100, 30}));
  EXPECT_EQ(sizes({60, 50, 60}, 100), (Sizes{60, 50, 60}));
  EXPECT_EQ(sizes({100, 0, 0, 100}, 100), (Sizes{100, 100}));
}

TEST(Buckets, SplitALargeLayerIntoNearlyEqualPieces) {
  EXPECT_EQ(sizes({1000}, 256), (Sizes{256, 256, 256, 232}));
  EXPECT_EQ(sizes({640}, 256), (Sizes{256, 192, 192}));
  EXPECT_EQ(sizes({257}, 256), (Sizes{192, 65}));
  EXPECT_EQ(sizes({101}, 100), (Sizes{64, 37}));
}

TEST(Buckets, GiveASplitLayerBucketsOfItsOwn) {
  EXPECT_EQ(sizes({10, 200, 10}, 128), (Sizes{10, 128, 72, 10}));
}

TEST(Buckets, AreNoneForNothing) {
  EXPECT_EQ(sizes({}, 100), Sizes{});
  EXPECT_EQ(sizes({0, 0}, 100), Sizes{});
}

TEST(Buckets, RefuseSizesOutOfRange) {
  const LayerMap map = map_of({10});
  for (std::uint64_t values_max :
       {std::uint64_t{0}, std::uint64_t{63}, (std::uint64_t{1} << 32) + 1}) {
    EXPECT_EQ(plan_buckets(map, {.values_max = values_max}).status().code(),
              StatusCode::invalid_argument);
  }
  EXPECT_TRUE(plan_buckets(map, {.values_max = std::uint64_t{1} << 32}).ok());
}

// --- whole layers ------------------------------------------------------------------------------

using Shapes = std::vector<std::vector<std::uint64_t>>;

LayerMap map_of_shapes(const Shapes& shapes) {
  std::vector<LayerShape> layers;
  for (const auto& shape : shapes) layers.push_back({std::to_string(layers.size()), shape});
  return std::move(LayerMap::make(std::move(layers))).value();
}

// The buckets for a codec of whole layers: a bucket closes at 100 values, and layers of up to 1000
// values stay whole.
Sizes whole_sizes(const Shapes& shapes) {
  const auto buckets =
      plan_buckets(map_of_shapes(shapes), {.values_max = 100, .layer_values_max = 1000});
  EXPECT_TRUE(buckets.ok()) << buckets.status().text();
  Sizes counts;
  for (const Bucket& bucket : *buckets) counts.push_back(bucket.count);
  return counts;
}

TEST(WholeLayers, GetABucketOfTheirOwnAboveTheUsualSize) {
  EXPECT_EQ(whole_sizes({{30, 20}, {20}, {10, 5}}), (Sizes{600, 70}));
  EXPECT_EQ(whole_sizes({{1}, {10}, {100, 10}, {1}}), (Sizes{11, 1000, 1}));
  EXPECT_EQ(whole_sizes({{997}, {1, 997}, {997, 1}}), (Sizes{997, 997, 997})) << "a prime";
}

TEST(WholeLayers, AreCutBetweenRowsIfTheyAreTooLarge) {
  EXPECT_EQ(whole_sizes({{50, 30}}), (Sizes{750, 750}));
  EXPECT_EQ(whole_sizes({{7, 331}}), (Sizes{993, 662, 662})) << "rows of a prime length";
  EXPECT_EQ(whole_sizes({{16, 8, 3, 3}}), (Sizes{576, 576})) << "a convolution's rows";
  EXPECT_EQ(whole_sizes({{1, 50, 30}}), (Sizes{750, 750})) << "a leading extent of 1 is no row";
}

TEST(WholeLayers, HaveNoRowsIfTheyAreVectorsOrTheirRowsAreTooLong) {
  EXPECT_EQ(whole_sizes({{1500}}), (Sizes{768, 732}));
  EXPECT_EQ(whole_sizes({{1, 1500}}), (Sizes{768, 732}));
  EXPECT_EQ(whole_sizes({{2, 1001}}), (Sizes{704, 704, 594}));
}

TEST(WholeLayers, AreNoReasonForSmallerBuckets) {
  const LayerMap map = map_of_shapes({{8, 8}, {8, 4}, {4}, {64}});
  EXPECT_EQ(*plan_buckets(map, {.values_max = 100, .layer_values_max = 64}),
            *plan_buckets(map, {.values_max = 100}));
}

TEST(WholeLayers, AThousandTinyLayersFillBuckets) {
  EXPECT_EQ(whole_sizes(Shapes(1000, {2, 5})), Sizes(100, 100));
}

// The largest map with the smallest buckets must not allocate 2^28 buckets before it is refused.
TEST(Buckets, HoldTheCapOnTheirNumber) {
  const std::uint64_t at_cap = kBucketsMax * kBucketStep;
  EXPECT_EQ(plan_buckets(map_of({at_cap}), {.values_max = kBucketStep})->size(), kBucketsMax);
  EXPECT_EQ(plan_buckets(map_of({at_cap + 1}), {.values_max = kBucketStep}).status().code(),
            StatusCode::resource_exhausted);
  EXPECT_EQ(
      plan_buckets(map_of({LayerMap::kValuesMax}), {.values_max = kBucketStep}).status().code(),
      StatusCode::resource_exhausted);
}

// Random maps, with layers of zero values up to several buckets.
class RandomMap {
 public:
  explicit RandomMap(std::uint64_t seed)
      : key_(stream_key({.job_seed = seed, .purpose = DrawPurpose::synthetic_data})) {
    values_max_ = kBucketStep + draw() % 2000;
    counts_.resize(draw() % 40);
    for (std::uint64_t& count : counts_) {
      const std::uint64_t largest = std::uint64_t{1} << (draw() % 14);
      count = draw() % 8 == 0 ? 0 : draw() % largest + draw() % 2;
    }
  }
  std::uint64_t values_max() const { return values_max_; }
  LayerMap map() const { return map_of(counts_); }

 private:
  std::uint32_t draw() { return random_bits(key_, next_++); }

  StreamKey key_;
  std::uint32_t next_ = 0;
  std::uint64_t values_max_ = 0;
  std::vector<std::uint64_t> counts_;
};

TEST(Buckets, CoverEveryValueOnceInOrderWithinTheBound) {
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    const RandomMap random(seed);
    const LayerMap map = random.map();
    const auto buckets = plan_buckets(map, {.values_max = random.values_max()});
    ASSERT_TRUE(buckets.ok());
    std::uint64_t end = 0;
    for (std::size_t i = 0; i < buckets->size(); ++i) {
      const Bucket& bucket = (*buckets)[i];
      ASSERT_EQ(bucket.index, i);
      ASSERT_EQ(bucket.offset, end) << "seed " << seed;
      ASSERT_GT(bucket.count, 0u);
      ASSERT_LE(bucket.count, random.values_max());
      end += bucket.count;
    }
    ASSERT_EQ(end, map.values()) << "seed " << seed;
  }
}

// A bucket that starts within a layer is only valid for a layer that does not fit.
TEST(Buckets, CutNoLayerThatFits) {
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    const RandomMap random(seed);
    const LayerMap map = random.map();
    const auto buckets = plan_buckets(map, {.values_max = random.values_max()});
    for (const Bucket& bucket : *buckets) {
      const Layer* layer = map.at_offset(bucket.offset);
      const bool starts_layer = layer->offset == bucket.offset;
      ASSERT_TRUE(starts_layer || layer->count > random.values_max()) << "seed " << seed;
      ASSERT_EQ((bucket.offset - layer->offset) % kBucketStep, 0u) << "seed " << seed;
    }
  }
}

// The same for a codec of whole layers, whose large layers are cut between rows.
TEST(WholeLayers, RandomShapesAreCutOnlyBetweenRows) {
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    const StreamKey key =
        stream_key({.job_seed = seed, .purpose = DrawPurpose::synthetic_data, .agent = 1});
    std::uint32_t next = 0;
    Shapes shapes(1 + random_bits(key, next++) % 20);
    for (auto& shape : shapes) {
      shape.resize(random_bits(key, next++) % 4);
      for (std::uint64_t& extent : shape) extent = 1 + random_bits(key, next++) % 40;
    }
    const LayerMap map = map_of_shapes(shapes);
    const BucketOptions options{.values_max = 64 + random_bits(key, next++) % 500,
                                .layer_values_max = 1 + random_bits(key, next++) % 5000};
    const std::uint64_t most = std::max(options.values_max, options.layer_values_max);
    const auto buckets = plan_buckets(map, options);
    ASSERT_TRUE(buckets.ok());
    std::uint64_t end = 0;
    for (const Bucket& bucket : *buckets) {
      ASSERT_EQ(bucket.offset, end) << "seed " << seed;
      ASSERT_LE(bucket.count, most) << "seed " << seed;
      const Layer& layer = *map.at_offset(bucket.offset);
      if (layer.offset != bucket.offset) {
        ASSERT_GT(layer.count, most) << "seed " << seed;
        ASSERT_EQ((bucket.offset - layer.offset) % cut_step(layer, most), 0u) << "seed " << seed;
      }
      end += bucket.count;
    }
    ASSERT_EQ(end, map.values()) << "seed " << seed;
  }
}

// An agent decodes the map from bytes and must compute the same buckets.
TEST(Buckets, AreAFunctionOfTheMap) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const RandomMap random(seed);
    const BucketOptions options{.values_max = random.values_max()};
    const LayerMap elsewhere = *LayerMap::decode(random.map().encode());
    EXPECT_EQ(*plan_buckets(random.map(), options), *plan_buckets(elsewhere, options));
  }
}

}  // namespace
}  // namespace tributary
