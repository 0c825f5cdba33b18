// Tests of groups of layers: the words of the setting, the groups of each rule in backward order,
// and buckets that divide no layer.
#include "core/update/layer_groups.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

namespace tributary {
namespace {

using Rule = LayerGrouping::Rule;
using Groups = std::vector<std::uint32_t>;

LayerMap grouped_map(const std::vector<std::uint64_t>& sizes) {
  std::vector<LayerShape> shapes;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    shapes.push_back({.name = "layer" + std::to_string(i), .shape = {sizes[i]}});
  }
  auto map = LayerMap::make(std::move(shapes));
  EXPECT_TRUE(map.ok()) << map.status().text();
  return std::move(*map);
}

std::vector<std::pair<std::uint64_t, std::uint64_t>> cuts(const LayerMap& map, const Groups& groups,
                                                          std::uint64_t values_max = 1u << 20) {
  const auto buckets = group_buckets(map, groups, {.values_max = values_max});
  EXPECT_TRUE(buckets.ok()) << buckets.status().text();
  std::vector<std::pair<std::uint64_t, std::uint64_t>> found;
  std::uint64_t end = 0;
  for (const Bucket& bucket : *buckets) {
    EXPECT_EQ(bucket.index, found.size());
    EXPECT_EQ(bucket.offset, end);
    EXPECT_GT(bucket.count, 0u);
    end += bucket.count;
    found.emplace_back(bucket.offset, bucket.count);
  }
  EXPECT_EQ(end, map.values());
  return found;
}

TEST(LayerGrouping, IsReadFromItsWords) {
  EXPECT_EQ(*parse_layer_grouping(""), LayerGrouping{});
  EXPECT_EQ(parse_layer_grouping("optimal")->rule, Rule::optimal);
  EXPECT_EQ(parse_layer_grouping("layerwise")->rule, Rule::layerwise);
  EXPECT_EQ(parse_layer_grouping("whole")->rule, Rule::whole);
  EXPECT_EQ(*parse_layer_grouping("even:12"), (LayerGrouping{.rule = Rule::even, .groups = 12}));
}

TEST(LayerGrouping, OtherWordsAreRefusedWithTheSettingsName) {
  for (const std::string text : {"layer-wise", "Whole", "even", "even:", "even:0", "even:-1",
                                 "even:4 ", "even:4x", "even:1048577", "even:99999999999", " "}) {
    const auto parsed = parse_layer_grouping(text);
    ASSERT_EQ(parsed.status().code(), StatusCode::invalid_argument) << text;
    EXPECT_NE(parsed.status().text().find("fusion"), std::string::npos) << text;
    EXPECT_NE(parsed.status().text().find(text), std::string::npos) << text;
  }
}

TEST(LayerGrouping, GroupsCountTheLastLayersFirst) {
  EXPECT_EQ(group_layers({.rule = Rule::layerwise}, 3), (Groups{1, 1, 1}));
  EXPECT_EQ(group_layers({.rule = Rule::whole}, 3), (Groups{3}));
  EXPECT_EQ(group_layers({.rule = Rule::even, .groups = 3}, 8), (Groups{3, 3, 2}));
  EXPECT_EQ(group_layers({.rule = Rule::even, .groups = 9}, 2), (Groups{1, 1}));
  EXPECT_EQ(group_layers({.rule = Rule::optimal}, 3), Groups{});
  EXPECT_EQ(group_layers({}, 3), Groups{});
  EXPECT_EQ(group_layers({.rule = Rule::whole}, 0), Groups{});
}

TEST(GroupBuckets, AreWholeLayersInBackwardOrder) {
  const LayerMap map = grouped_map({10, 20, 30, 40});
  using Cuts = std::vector<std::pair<std::uint64_t, std::uint64_t>>;
  EXPECT_EQ(cuts(map, {1, 1, 1, 1}), (Cuts{{0, 10}, {10, 20}, {30, 30}, {60, 40}}));
  EXPECT_EQ(cuts(map, {4}), (Cuts{{0, 100}}));
  // The first group is the one that backward produces first: the last layer alone.
  EXPECT_EQ(cuts(map, {1, 3}), (Cuts{{0, 60}, {60, 40}}));
  EXPECT_EQ(cuts(map, {3, 1}), (Cuts{{0, 10}, {10, 90}}));
}

TEST(GroupBuckets, SkipLayersWithoutValues) {
  const LayerMap map = grouped_map({10, 0, 30});
  using Cuts = std::vector<std::pair<std::uint64_t, std::uint64_t>>;
  EXPECT_EQ(cuts(map, {1, 1, 1}), (Cuts{{0, 10}, {10, 30}}));
  EXPECT_EQ(cuts(map, {1, 2}), (Cuts{{0, 10}, {10, 30}}));
}

// Only the largest bucket that a plan may have divides a group, and then between layers if it can.
TEST(GroupBuckets, AGroupAboveTheLimitIsDividedBetweenItsLayers) {
  const LayerMap map = grouped_map({100, 100, 100, 50});
  using Cuts = std::vector<std::pair<std::uint64_t, std::uint64_t>>;
  EXPECT_EQ(cuts(map, {1, 3}, 200), (Cuts{{0, 200}, {200, 100}, {300, 50}}));
}

TEST(GroupBuckets, GroupsThatDoNotFitTheMapAreRefused) {
  const LayerMap map = grouped_map({10, 20, 30});
  for (const Groups& groups :
       {Groups{}, Groups{1, 1}, Groups{2, 2}, Groups{3, 0}, Groups{0, 3}, Groups{0xffffffffu, 4}}) {
    EXPECT_EQ(group_buckets(map, groups, {}).status().code(), StatusCode::invalid_argument);
  }
}

}  // namespace
}  // namespace tributary
