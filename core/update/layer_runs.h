// The layers in a bucket, in the form in which codecs receive them. The function is pure.
//
// The cost is a binary search and the number of layers in the bucket. The result owns its entries
// and does not refer to the map.
#pragma once

#include <cstdint>
#include <vector>

#include "core/update/layer_map.h"

namespace tributary {

// The part of a layer that lies in a bucket, as a matrix of `rows` rows (1 for a vector). `rows`
// divides `count`.
struct LayerRun {
  std::uint32_t offset = 0;  // index of the first value within the bucket
  std::uint32_t count = 0;
  std::uint32_t rows = 1;
  friend bool operator==(const LayerRun&, const LayerRun&) = default;
};

// The form of a part of a layer, if a bucket does not hold all of it.
enum class LayerPart : std::uint8_t {
  vector,  // always a vector
  rows,    // a matrix if it consists of whole rows of one
};

// The layers and parts of layers among the values [first, first + values) of the update vector, in
// order and without gaps. Empty layers are left out. Requires first + values <= map.values().
std::vector<LayerRun> layer_runs(const LayerMap& map, std::uint64_t first, std::uint32_t values,
                                 LayerPart part);

}  // namespace tributary
