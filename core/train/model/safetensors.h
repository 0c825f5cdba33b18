// Models in the safetensors format: a JSON header that names each tensor, then the values. A reader
// needs no code from the file, so any program can read a model safely.
//
//   u64 length of the header, little-endian
//   {"__metadata__": {"key": "text"}, "name": {"dtype": "F32", "shape": [2, 3],
//    "data_offsets": [0, 24]}}, padded with spaces to a multiple of 8
//   values, little-endian, without gaps
//
// The functions are pure and may be called from any thread.
#pragma once

#include <map>
#include <span>
#include <string>

#include "core/base/bytes/bytes.h"
#include "core/base/status.h"
#include "core/update/layer_map.h"

namespace tributary {

using SafetensorsMetadata = std::map<std::string, std::string>;

// The contents of a file.
struct Safetensors {
  LayerMap layers;  // in the order of their values in the file
  FloatVector values;
  SafetensorsMetadata metadata;
};

// Returns the complete file. Fails with invalid_argument if the number of values differs from the
// map's, or a layer has the name "__metadata__", which the format reserves.
Result<Bytes> write_safetensors(const LayerMap& layers, std::span<const float> values,
                                const SafetensorsMetadata& metadata);

// Reads a file of float32 tensors. It allocates no more than the file holds. Fails with
// corrupt_data (damaged, or a header longer than kSafetensorsHeaderMax bytes), unsupported (other
// types) or resource_exhausted (too many tensors).
constexpr std::uint64_t kSafetensorsHeaderMax = 8u << 20;
Result<Safetensors> read_safetensors(ByteSpan file);

}  // namespace tributary
