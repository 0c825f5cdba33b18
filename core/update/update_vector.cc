#include "core/update/update_vector.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cassert>
#include <new>
#include <utility>

namespace tributary {
namespace {

constexpr std::uint32_t kExponentMask = 0x7f800000;

bool is_finite(float value) {
  return (std::bit_cast<std::uint32_t>(value) & kExponentMask) != kExponentMask;
}

}  // namespace

std::optional<std::uint64_t> first_not_finite(std::span<const float> values) {
  // Blocks without an early end inside become SIMD code.
  constexpr std::size_t kBlock = 1024;
  for (std::size_t start = 0; start < values.size(); start += kBlock) {
    const auto block = values.subspan(start, std::min(kBlock, values.size() - start));
    unsigned bad = 0;
    for (float value : block) bad |= is_finite(value) ? 0u : 1u;
    if (bad == 0) continue;
    const auto first = std::ranges::find_if_not(block, is_finite);
    return start + static_cast<std::size_t>(first - block.begin());
  }
  return std::nullopt;
}

UpdateVector::UpdateVector(std::shared_ptr<const LayerMap> map)
    : map_(std::move(map)), values_(map_->values(), 0.0f) {}

Result<UpdateVector> UpdateVector::make(std::shared_ptr<const LayerMap> map) {
  assert(map);
  const std::uint64_t count = map->values();
  try {
    return UpdateVector(std::move(map));
  } catch (const std::bad_alloc&) {
    return Status(StatusCode::resource_exhausted,
                  {.what = "update vector",
                   .expected = fmt::format("{} bytes of memory", count * sizeof(float)),
                   .got = "less",
                   .remedy = "use a smaller model or a machine with more memory"});
  }
}

std::span<float> UpdateVector::run(std::uint64_t offset, std::uint64_t count) {
  assert(offset <= values_.size() && count <= values_.size() - offset);
  return values().subspan(offset, count);
}

std::span<const float> UpdateVector::run(std::uint64_t offset, std::uint64_t count) const {
  assert(offset <= values_.size() && count <= values_.size() - offset);
  return values().subspan(offset, count);
}

void UpdateVector::set_zero() { std::ranges::fill(values_, 0.0f); }

void UpdateVector::scale(float factor) {
  for (float& value : values_) value *= factor;
}

Status UpdateVector::add(const UpdateVector& other) {
  if (map_ != other.map_ && map_->hash() != other.map_->hash()) {
    return Status(StatusCode::mismatch,
                  {.what = "adding an update",
                   .expected = fmt::format("the layers with hash {:016x}", map_->hash()),
                   .got = fmt::format("{:016x}", other.map_->hash())});
  }
  const float* from = other.values_.data();
  float* to = values_.data();
  for (std::size_t i = 0; i < values_.size(); ++i) to[i] += from[i];
  return {};
}

Status UpdateVector::check_finite() const {
  const auto bad = first_not_finite(values_);
  if (!bad) return {};
  const Layer& layer = *map_->at_offset(*bad);
  return Status(StatusCode::not_finite,
                {.what = fmt::format("layer '{}', value {} of {}", layer.name, *bad - layer.offset,
                                     layer.count),
                 .expected = "a finite number",
                 .got = fmt::format("{}", values_[*bad])});
}

}  // namespace tributary
