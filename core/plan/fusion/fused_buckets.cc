#include "core/plan/fusion/fused_buckets.h"

#include <fmt/format.h>

#include <algorithm>

namespace tributary {

Result<std::vector<Bucket>> fused_buckets(const LayerMap& map,
                                          std::span<const std::uint32_t> groups,
                                          const BucketOptions& options) {
  const std::span<const Layer> layers = map.layers();
  std::vector<std::uint64_t> runs;
  runs.reserve(groups.size());
  std::uint64_t end = map.values();
  std::uint64_t left = layers.size();
  std::uint64_t wanted = 0;
  for (const std::uint32_t group : groups) {
    wanted += group;
    if (group == 0 || group > left) break;
    left -= group;
    const std::uint64_t begin = layers[left].offset;
    runs.push_back(end - begin);
    end = begin;
  }
  if (left > 0 || runs.size() != groups.size()) {
    return Status(StatusCode::mismatch,
                  {.what = "groups of layers",
                   .expected = fmt::format("counts from 1 that add up to {}", layers.size()),
                   .got = fmt::format("{} in group {} of {}", wanted, runs.size(), groups.size()),
                   .remedy = "plan for the layers of this model"});
  }
  std::ranges::reverse(runs);
  return bucket_runs(runs, options);
}

}  // namespace tributary
