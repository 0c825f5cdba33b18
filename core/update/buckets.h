// Divides an update vector into buckets: contiguous runs that are encoded and sent independently.
// The functions are pure.
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
};

// Unit of division of large layers, in values; a multiple of the codecs' smallest blocks.
inline constexpr std::uint64_t kBucketStep = 64;
inline constexpr std::uint64_t kBucketsMax = std::uint64_t{1} << 20;

// Covers [0, map.values()) once and in order with non-empty buckets. Layers that fit are kept
// whole. A layer larger than values_max gets buckets of its own; their sizes differ by less than 2
// * kBucketStep, and all but the last are multiples of it. The result depends only on the
// arguments, so agents with the same map have the same buckets. Returns invalid_argument for
// options out of bounds, and resource_exhausted for more than kBucketsMax buckets.
Result<std::vector<Bucket>> plan_buckets(const LayerMap& map, const BucketOptions& options);

}  // namespace tributary
