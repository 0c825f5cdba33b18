// Divides an update vector into groups of whole layers, in the order in which a backward pass
// finishes them: the last layer first. Each group is a bucket.
//
// The functions are pure. The cost is linear in layers and buckets.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/status.h"
#include "core/update/buckets.h"
#include "core/update/layer_map.h"

namespace tributary {

// The setting `fusion` of a job: how its layers become groups.
struct LayerGrouping {
  enum class Rule : std::uint8_t {
    none,       // buckets follow from their largest size (plan_buckets)
    optimal,    // groups with the shortest iteration, from a measured profile
    layerwise,  // every layer is a group
    whole,      // all layers are one group
    even,       // `groups` groups that differ by at most one layer, the larger ones first
  };
  Rule rule = Rule::none;
  std::uint32_t groups = 0;  // for `even`; at least 1

  friend bool operator==(const LayerGrouping&, const LayerGrouping&) = default;
};

// Reads "optimal", "layerwise", "whole" or "even:N"; an empty text means no groups. Returns
// invalid_argument for any other text, and for an N that is not 1 to kBucketsMax.
Result<LayerGrouping> parse_layer_grouping(std::string_view text);

// The groups of a rule, as numbers of consecutive layers, the last layers first. Layers are never
// divided, so there are at most as many groups as layers. Empty for the rules `none` and `optimal`,
// which do not follow from a number of layers.
std::vector<std::uint32_t> group_layers(const LayerGrouping& grouping, std::uint32_t layers);

// Makes a bucket of each group and returns the buckets in the order of the vector. `groups` are
// numbers of layers, the last layers of the map first. A group without values gets no bucket. A
// group of more than options.values_max values is divided as plan_buckets() divides its layers.
// Returns invalid_argument if a group is empty or the numbers do not add up to the layers of the
// map, and the errors of plan_buckets().
Result<std::vector<Bucket>> group_buckets(const LayerMap& map,
                                          std::span<const std::uint32_t> groups,
                                          const BucketOptions& options);

}  // namespace tributary
