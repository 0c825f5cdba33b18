// Untrusted layer maps: decoding must give an error, or a map that is encoded to the same bytes and
// that look-ups and bucket planning can use.
#include <algorithm>
#include <cstdlib>

#include "core/update/buckets.h"
#include "core/update/layer_map.h"

namespace tributary {
namespace {

void require(bool condition) {
  if (!condition) std::abort();
}

void check_layers(const LayerMap& map) {
  std::uint64_t end = 0;
  for (const Layer& layer : map.layers()) {
    require(layer.offset == end);
    require(map.find(layer.name) == &layer);
    if (layer.count > 0) {
      require(map.at_offset(layer.offset) == &layer);
      require(map.at_offset(layer.offset + layer.count - 1) == &layer);
    }
    end += layer.count;
  }
  require(end == map.values() && end <= LayerMap::kValuesMax);
  require(map.at_offset(end) == nullptr);
}

void check_buckets(const LayerMap& map, const BucketOptions& options) {
  const auto buckets = plan_buckets(map, options);
  require(buckets.ok());
  const std::uint64_t most = std::max(options.values_max, options.layer_values_max);
  std::uint64_t end = 0;
  for (const Bucket& bucket : *buckets) {
    require(bucket.offset == end && bucket.count > 0 && bucket.count <= most);
    const Layer& layer = *map.at_offset(end);
    const std::uint64_t step = options.layer_values_max > 0 ? cut_step(layer, most) : kBucketStep;
    require(layer.offset == end || (layer.count > most && (end - layer.offset) % step == 0));
    end += bucket.count;
  }
  require(end == map.values());
}

void run(ByteSpan input) {
  const auto map = LayerMap::decode(input);
  if (!map.ok()) {
    require(!map.status().text().empty());
    return;
  }
  require(std::ranges::equal(map->encode(), input));
  check_layers(*map);
  check_buckets(*map, {});
  check_buckets(*map, {.layer_values_max = 1});
  check_buckets(*map, {.layer_values_max = std::uint64_t{1} << 22});
}

}  // namespace
}  // namespace tributary

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  tributary::run({data, size});
  return 0;
}
