// Buckets: the contiguous runs of the update vector that are encoded and sent, each for itself.
#pragma once

#include <cstdint>
#include <vector>

#include "core/base/status.h"
#include "core/update/layer_map.h"

namespace tributary {

struct Bucket {
  std::uint32_t index;
  std::uint64_t offset;
  std::uint64_t count;
  friend bool operator==(const Bucket&, const Bucket&) = default;
};

struct BucketOptions {
  // Between kBucketStep and 2^32, as a bucket's draws are addressed with 32 bits.
  std::uint64_t values_max = std::uint64_t{1} << 20;
};

inline constexpr std::uint64_t kBucketStep = 64;
inline constexpr std::uint64_t kBucketsMax = std::uint64_t{1} << 20;

// Covers [0, map.values()) once and in order with non-empty buckets. Whole layers stay together
// while they fit. A layer larger than values_max gets buckets of its own, whose sizes differ by
// less than 2 * kBucketStep and all but the last of which are multiples of it. A function of its
// arguments, so that agents with the same map have the same buckets.
Result<std::vector<Bucket>> plan_buckets(const LayerMap& map, const BucketOptions& options);

}  // namespace tributary
