// The layers of an update vector: their names, shapes and positions, one after the other without
// gaps.
//
// All agents of a job have the same map and compare its hash. A map is immutable; all threads may
// share it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/bytes/bytes.h"
#include "core/base/status.h"

namespace tributary {

// The description of a layer.
struct LayerShape {
  std::string name;
  std::vector<std::uint64_t> shape;  // empty: a scalar
};

struct Layer {
  std::string name;
  std::vector<std::uint64_t> shape;
  std::uint64_t offset;  // index of its first value in the update vector
  std::uint64_t count;   // the product of the shape; may be 0
};

class LayerMap {
 public:
  // Limits. A map above them is refused with resource_exhausted.
  static constexpr std::size_t kLayersMax = 65'536;
  static constexpr std::size_t kDimensionsMax = 8;
  static constexpr std::size_t kNameBytesMax = 256;
  static constexpr std::uint64_t kValuesMax = std::uint64_t{1} << 34;

  // Makes a map. Returns invalid_argument for an empty name or a name that occurs twice, and
  // resource_exhausted above the limits.
  static Result<LayerMap> make(std::vector<LayerShape> shapes);

  std::span<const Layer> layers() const { return layers_; }
  std::uint64_t values() const { return values_; }

  // Returns the layer with this name in O(log n); null if no layer has it.
  const Layer* find(std::string_view name) const;
  // Returns the layer that contains this value in O(log n); null if offset >= values().
  const Layer* at_offset(std::uint64_t offset) const;

  // Equal maps have equal bytes, and therefore equal hashes, on every machine and in every release
  // that writes the same format version. decode() trusts nothing: it returns corrupt_data,
  // unsupported (another version) or an error of make().
  Bytes encode() const;
  static Result<LayerMap> decode(ByteSpan bytes);
  std::uint64_t hash() const { return hash_; }

 private:
  LayerMap() = default;
  Status add(LayerShape shape);
  Status index_names();

  std::vector<Layer> layers_;
  std::vector<std::uint32_t> by_name_;  // indexes of layers_, sorted by name
  std::uint64_t values_ = 0;
  std::uint64_t hash_ = 0;
};

}  // namespace tributary
