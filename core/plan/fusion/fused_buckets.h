// From a fusion plan to the buckets of an update.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/base/status.h"
#include "core/update/buckets.h"
#include "core/update/layer_map.h"

namespace tributary {

// The buckets of an update whose gradients become ready from the last layer to the first, as a
// backward pass has them: groups[0] are the last layers of the map. Covers [0, map.values()) once
// and in order with non-empty buckets, so that what is ready first is at the end. The counts must
// add up to the map's layers; a group without values has no bucket, and one larger than values_max
// has several.
Result<std::vector<Bucket>> fused_buckets(const LayerMap& map,
                                          std::span<const std::uint32_t> groups,
                                          const BucketOptions& options);

}  // namespace tributary
