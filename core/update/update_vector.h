// The values of an update (a gradient or a delta) as one flat float32 vector.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "core/base/bytes.h"
#include "core/base/status.h"
#include "core/update/layer_map.h"

namespace tributary {

// The index of the first NaN or infinity.
std::optional<std::uint64_t> first_not_finite(std::span<const float> values);

// Bound to its layer map for life; starts on a cache line. Moved, not copied: it may be gigabytes.
class UpdateVector {
 public:
  // All zeros.
  static Result<UpdateVector> make(std::shared_ptr<const LayerMap> map);

  UpdateVector(UpdateVector&&) = default;
  UpdateVector& operator=(UpdateVector&&) = default;

  const LayerMap& map() const { return *map_; }
  std::span<float> values() { return values_; }
  std::span<const float> values() const { return values_; }

  // `layer` must be one of this map's, and a run must lie inside the vector.
  std::span<float> layer(const Layer& layer) { return run(layer.offset, layer.count); }
  std::span<const float> layer(const Layer& layer) const { return run(layer.offset, layer.count); }
  std::span<float> run(std::uint64_t offset, std::uint64_t count);
  std::span<const float> run(std::uint64_t offset, std::uint64_t count) const;

  void set_zero();
  void scale(float factor);
  // An error when the other's layers are not the same.
  Status add(const UpdateVector& other);

  // An error that names the layer and the place of the first NaN or infinity.
  Status check_finite() const;

 private:
  explicit UpdateVector(std::shared_ptr<const LayerMap> map);

  std::shared_ptr<const LayerMap> map_;
  FloatVector values_;
};

}  // namespace tributary
