#include "core/plan/fusion/fused_buckets.h"

#include <gmock/gmock.h>

#include <string>

namespace tributary {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

LayerMap map_of(const std::vector<std::uint64_t>& counts) {
  std::vector<LayerShape> shapes;
  for (std::uint64_t count : counts) shapes.push_back({std::to_string(shapes.size()), {count}});
  return std::move(LayerMap::make(std::move(shapes))).value();
}

std::vector<std::uint64_t> sizes(const std::vector<std::uint64_t>& layers,
                                 const std::vector<std::uint32_t>& groups,
                                 std::uint64_t values_max = 1024) {
  const auto buckets = fused_buckets(map_of(layers), groups, {.values_max = values_max});
  EXPECT_TRUE(buckets.ok()) << buckets.status().text();
  std::vector<std::uint64_t> counts;
  std::uint64_t end = 0;
  for (const Bucket& bucket : *buckets) {
    EXPECT_EQ(bucket.offset, end);
    end += bucket.count;
    counts.push_back(bucket.count);
  }
  return counts;
}

TEST(FusedBuckets, BeginAtTheLastLayer) {
  EXPECT_THAT(sizes({10, 20, 30, 40}, {1, 3}), ElementsAre(60, 40));
  EXPECT_THAT(sizes({10, 20, 30, 40}, {3, 1}), ElementsAre(10, 90));
  EXPECT_THAT(sizes({10, 20, 30, 40}, {4}), ElementsAre(100));
  EXPECT_THAT(sizes({10, 20, 30, 40}, {1, 1, 1, 1}), ElementsAre(10, 20, 30, 40));
}

TEST(FusedBuckets, OfLayersWithoutValuesAreNone) {
  EXPECT_THAT(sizes({10, 0, 30}, {1, 1, 1}), ElementsAre(10, 30));
}

TEST(FusedBuckets, HoldTheLargestSize) {
  EXPECT_THAT(sizes({10, 100, 100}, {2, 1}, 128), ElementsAre(10, 128, 72));
  EXPECT_EQ(
      fused_buckets(map_of({1}), std::vector<std::uint32_t>{1}, {.values_max = 1}).status().code(),
      StatusCode::invalid_argument);
}

TEST(FusedBuckets, RefuseGroupsOfAnotherModel) {
  const LayerMap map = map_of({10, 20, 30});
  for (const std::vector<std::uint32_t>& groups : std::vector<std::vector<std::uint32_t>>{
           {}, {2}, {2, 2}, {4}, {3, 1}, {0, 3}, {3, 0}, {1, 0xffffffff, 3}}) {
    const Status status = fused_buckets(map, groups, {}).status();
    EXPECT_EQ(status.code(), StatusCode::mismatch);
    EXPECT_THAT(status.text(), HasSubstr("add up to 3"));
  }
}

TEST(FusedBuckets, OfNoLayersAreNone) { EXPECT_TRUE(fused_buckets(map_of({}), {}, {})->empty()); }

}  // namespace
}  // namespace tributary
