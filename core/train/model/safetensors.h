// Models in the safetensors format: a JSON header that names each tensor, and then their values, so
// that any program can read a model without running anything of it.
//
//   u64 length of the header, little-endian
//   {"__metadata__": {"key": "text"}, "name": {"dtype": "F32", "shape": [2, 3],
//    "data_offsets": [0, 24]}}, spaces to the next multiple of 8
//   values, little-endian, without gaps
#pragma once

#include <map>
#include <span>
#include <string>

#include "core/base/bytes/bytes.h"
#include "core/base/status.h"
#include "core/update/layer_map.h"

namespace tributary {

using SafetensorsMetadata = std::map<std::string, std::string>;

struct Safetensors {
  LayerMap layers;  // in the order of their values
  FloatVector values;
  SafetensorsMetadata metadata;
};

// An error where the values are not the map's, or a layer has a name that the format keeps for
// itself.
Result<Bytes> write_safetensors(const LayerMap& layers, std::span<const float> values,
                                const SafetensorsMetadata& metadata);

// float32 alone. Nothing is allocated for more than the file holds, and a header above
// kSafetensorsHeaderMax is refused.
constexpr std::uint64_t kSafetensorsHeaderMax = 8u << 20;
Result<Safetensors> read_safetensors(ByteSpan file);

}  // namespace tributary
