#include "core/update/layer_groups.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <numeric>

#include "core/base/nearest.h"

namespace tributary {
namespace {

constexpr std::string_view kEven = "even:";

Status bad_grouping(std::string_view text) {
  constexpr std::string_view kWords[] = {"optimal", "layerwise", "whole", "even:4"};
  return Status(StatusCode::invalid_argument,
                {.what = "fusion",
                 .expected = fmt::format("optimal, layerwise, whole or even:N with N from 1 to {}",
                                         kBucketsMax),
                 .got = fmt::format("'{}'", text.substr(0, 64)),
                 .remedy = did_you_mean(text, kWords)});
}

Status check_groups(const LayerMap& map, std::span<const std::uint32_t> groups) {
  const std::uint64_t sum = std::accumulate(groups.begin(), groups.end(), std::uint64_t{0});
  const bool empty = std::ranges::find(groups, 0u) != groups.end();
  if (!empty && sum == map.layers().size()) return {};
  return Status(
      StatusCode::invalid_argument,
      {.what = "groups of layers",
       .expected = fmt::format("numbers from 1 on that add up to {}", map.layers().size()),
       .got = empty ? "an empty group" : fmt::format("a sum of {}", sum),
       .remedy = {}});
}

// The buckets of one group's layers. Their offsets count from the group's first value.
Result<std::vector<Bucket>> buckets_of_group(std::span<const Layer> layers,
                                             const BucketOptions& options) {
  const std::uint64_t values = layers.back().offset + layers.back().count - layers.front().offset;
  if (values == 0) return std::vector<Bucket>();
  if (values <= options.values_max) {
    return std::vector<Bucket>{{.index = 0, .offset = 0, .count = values}};
  }
  std::vector<LayerShape> shapes;
  for (const Layer& layer : layers) shapes.push_back({.name = layer.name, .shape = layer.shape});
  TRIBUTARY_ASSIGN(const LayerMap map, LayerMap::make(std::move(shapes)));
  return plan_buckets(map, options);
}

}  // namespace

Result<LayerGrouping> parse_layer_grouping(std::string_view text) {
  using Rule = LayerGrouping::Rule;
  if (text.empty()) return LayerGrouping{};
  if (text == "optimal") return LayerGrouping{.rule = Rule::optimal};
  if (text == "layerwise") return LayerGrouping{.rule = Rule::layerwise};
  if (text == "whole") return LayerGrouping{.rule = Rule::whole};
  if (!text.starts_with(kEven)) return bad_grouping(text);
  const std::string_view number = text.substr(kEven.size());
  LayerGrouping grouping = {.rule = Rule::even};
  const auto [end, error] =
      std::from_chars(number.data(), number.data() + number.size(), grouping.groups);
  if (error != std::errc() || end != number.data() + number.size() || grouping.groups == 0 ||
      grouping.groups > kBucketsMax) {
    return bad_grouping(text);
  }
  return grouping;
}

std::vector<std::uint32_t> group_layers(const LayerGrouping& grouping, std::uint32_t layers) {
  using Rule = LayerGrouping::Rule;
  if (layers == 0) return {};
  switch (grouping.rule) {
    case Rule::none:
    case Rule::optimal:
      return {};
    case Rule::layerwise:
      return std::vector<std::uint32_t>(layers, 1);
    case Rule::whole:
      return {layers};
    case Rule::even:
      break;
  }
  const std::uint32_t groups = std::min(grouping.groups, layers);
  std::vector<std::uint32_t> sizes(groups, layers / groups);
  for (std::uint32_t i = 0; i < layers % groups; ++i) ++sizes[i];
  return sizes;
}

Result<std::vector<Bucket>> group_buckets(const LayerMap& map,
                                          std::span<const std::uint32_t> groups,
                                          const BucketOptions& options) {
  TRIBUTARY_TRY(check_groups(map, groups));
  std::vector<Bucket> buckets;
  std::size_t at = 0;  // first layer of the next group
  for (std::size_t group = groups.size(); group > 0; --group) {
    const std::uint32_t count = groups[group - 1];
    const std::span<const Layer> layers = map.layers().subspan(at, count);
    at += count;
    TRIBUTARY_ASSIGN(const std::vector<Bucket> own, buckets_of_group(layers, options));
    for (const Bucket& bucket : own) {
      buckets.push_back({.index = static_cast<std::uint32_t>(buckets.size()),
                         .offset = layers.front().offset + bucket.offset,
                         .count = bucket.count});
    }
  }
  if (buckets.size() > kBucketsMax) {
    return Status(StatusCode::resource_exhausted,
                  {.what = "buckets of groups of layers",
                   .expected = fmt::format("at most {} buckets", kBucketsMax),
                   .got = fmt::format("{}", buckets.size()),
                   .remedy = "form fewer groups"});
  }
  return buckets;
}

}  // namespace tributary
