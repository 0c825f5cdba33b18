#include "core/update/layer_runs.h"

#include <algorithm>

#include "core/update/buckets.h"

namespace tributary {
namespace {

// The rows of the values [from, from + count) of a layer; 1 if they are not whole rows.
std::uint32_t rows_of(const Layer& layer, std::uint64_t from, std::uint64_t count) {
  const std::uint64_t row = row_values(layer);
  const bool whole = (from - layer.offset) % row == 0 && count % row == 0;
  return whole ? static_cast<std::uint32_t>(count / row) : 1;
}

}  // namespace

std::vector<LayerRun> layer_runs(const LayerMap& map, std::uint64_t first, std::uint32_t values,
                                 LayerPart part) {
  std::vector<LayerRun> runs;
  const std::uint64_t end = first + values;
  const auto layers = map.layers();
  auto at = std::ranges::partition_point(
      layers, [&](const Layer& layer) { return layer.offset + layer.count <= first; });
  for (; at != layers.end() && at->offset < end; ++at) {
    if (at->count == 0) continue;
    const std::uint64_t from = std::max(at->offset, first);
    const std::uint64_t to = std::min(at->offset + at->count, end);
    LayerRun run{.offset = static_cast<std::uint32_t>(from - first),
                 .count = static_cast<std::uint32_t>(to - from)};
    const bool whole = run.count == at->count;
    if (part == LayerPart::rows) {
      run.rows = rows_of(*at, from, run.count);
    } else if (whole && at->shape.size() > 1) {
      run.rows = static_cast<std::uint32_t>(at->shape[0]);
    }
    runs.push_back(run);
  }
  return runs;
}

}  // namespace tributary
