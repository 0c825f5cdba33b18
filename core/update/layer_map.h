// What the values of an update belong to: named layers, laid one after the other without gaps. All
// agents of a job have the same map, and compare its hash to be sure.
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

struct LayerShape {
  std::string name;
  std::vector<std::uint64_t> shape;  // empty: a scalar
};

struct Layer {
  std::string name;
  std::vector<std::uint64_t> shape;
  std::uint64_t offset;  // of its first value in the flat vector
  std::uint64_t count;   // the product of the shape; may be 0
};

class LayerMap {
 public:
  static constexpr std::size_t kLayersMax = 65'536;
  static constexpr std::size_t kDimensionsMax = 8;
  static constexpr std::size_t kNameBytesMax = 256;
  static constexpr std::uint64_t kValuesMax = std::uint64_t{1} << 34;

  static Result<LayerMap> make(std::vector<LayerShape> shapes);

  std::span<const Layer> layers() const { return layers_; }
  std::uint64_t values() const { return values_; }

  // Null where there is none.
  const Layer* find(std::string_view name) const;
  // The layer that holds this value; null at values() and beyond.
  const Layer* at_offset(std::uint64_t offset) const;

  // Equal maps have equal bytes, and so equal hashes, on every machine and in every release that
  // writes the same format version.
  Bytes encode() const;
  static Result<LayerMap> decode(ByteSpan bytes);
  std::uint64_t hash() const { return hash_; }

 private:
  LayerMap() = default;
  Status add(LayerShape shape);
  Status index_names();

  std::vector<Layer> layers_;
  std::vector<std::uint32_t> by_name_;  // indexes of layers_, in the order of their names
  std::uint64_t values_ = 0;
  std::uint64_t hash_ = 0;
};

}  // namespace tributary
