// Divides an update vector into buckets: contiguous runs that are encoded and sent independently.
// The functions are pure.
//
// Coordinator and agents compute the division separately and must agree, so it depends on nothing
// but its arguments. The cost is linear in layers and buckets.
#pragma once

#include <cstdint>
#include <vector>

#include "core/base/status.h"
#include "core/update/layer_map.h"

namespace tributary {

// The values [offset, offset + count) of the update vector.
struct Bucket {
  std::uint32_t index;
  std::uint64_t offset;
  std::uint64_t count;
  friend bool operator==(const Bucket&, const Bucket&) = default;
};

struct BucketOptions {
  // Largest bucket, in values: kBucketStep to 2^32, because a bucket's draws have 32-bit addresses.
  std::uint64_t values_max = std::uint64_t{1} << 20;
  // Largest layer that must stay whole, in values. Layers between values_max and this get a bucket
  // of their own, and larger ones are cut between rows. 0: layers above values_max are cut
  // anywhere.
  std::uint64_t layer_values_max = 0;
};

// Unit of division of large layers, in values; a multiple of the codecs' smallest blocks.
inline constexpr std::uint64_t kBucketStep = 64;
inline constexpr std::uint64_t kBucketsMax = std::uint64_t{1} << 20;

// The length of a layer's rows, in values, if the layer is read as a matrix: its first extent above
// 1 counts the rows. A vector is a single row.
std::uint64_t row_values(const Layer& layer);

// The length of the pieces into which a layer may be cut that is too large to stay whole, in
// values: a row, or kBucketStep for vectors and for rows longer than layer_values_max.
std::uint64_t cut_step(const Layer& layer, std::uint64_t layer_values_max);

// Covers [0, map.values()) once and in order with non-empty buckets. Layers that fit are kept
// whole. A layer that does not fit gets buckets of its own; their sizes differ by less than two
// steps (kBucketStep, or cut_step() with a layer_values_max), and all but the last are multiples of
// the step. The result depends only on the arguments, so agents with the same map have the same
// buckets. Returns invalid_argument for options out of bounds, and resource_exhausted for more than
// kBucketsMax buckets.
Result<std::vector<Bucket>> plan_buckets(const LayerMap& map, const BucketOptions& options);

}  // namespace tributary
