#include "core/update/layer_map.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "core/base/bytes/checksum.h"

namespace tributary {
namespace {

// The format: magic, version, number of layers; per layer the length of the name, the name, the
// number of dimensions and the extents.
constexpr std::uint32_t kLayerMapMagic = 0x4d4c5254;  // "TRLM"
constexpr std::uint16_t kLayerMapVersion = 1;
constexpr std::size_t kLayerBytesMin = sizeof(std::uint16_t) + 1 + sizeof(std::uint8_t);

Status cap_reached(std::string what, std::uint64_t cap, std::string_view unit, std::string got) {
  return Status(StatusCode::resource_exhausted,
                {.what = std::move(what),
                 .expected = fmt::format("at most {} {}", cap, unit),
                 .got = std::move(got)});
}

// Names are untrusted and may be long, so at most this number of bytes is quoted.
std::string place(std::size_t index, std::string_view name) {
  constexpr std::size_t kQuotedMax = 64;
  const std::string_view dots = name.size() > kQuotedMax ? "..." : "";
  return fmt::format("layer {} '{}{}'", index, name.substr(0, kQuotedMax), dots);
}

}  // namespace

Result<LayerMap> LayerMap::make(std::vector<LayerShape> shapes) {
  if (shapes.size() > kLayersMax) {
    return cap_reached("layer map", kLayersMax, "layers", fmt::format("{}", shapes.size()));
  }
  LayerMap map;
  map.layers_.reserve(shapes.size());
  for (LayerShape& shape : shapes) TRIBUTARY_TRY(map.add(std::move(shape)));
  TRIBUTARY_TRY(map.index_names());
  // The hash covers the encoded form, so it does not depend on the layout of this class.
  map.hash_ = hash64(map.encode());
  return map;
}

Status LayerMap::add(LayerShape shape) {
  const std::size_t index = layers_.size();
  if (shape.name.empty()) {
    return Status(
        StatusCode::invalid_argument,
        {.what = fmt::format("layer {}", index), .expected = "a name", .got = "an empty one"});
  }
  if (shape.name.size() > kNameBytesMax) {
    return cap_reached(place(index, shape.name), kNameBytesMax, "bytes of name",
                       fmt::format("{}", shape.name.size()));
  }
  if (shape.shape.size() > kDimensionsMax) {
    return cap_reached(place(index, shape.name), kDimensionsMax, "dimensions",
                       fmt::format("{}", shape.shape.size()));
  }
  std::uint64_t count = 1;
  // A shape with a zero has no values, whatever its other extents are. It must not be refused for
  // their product.
  const bool empty = std::count(shape.shape.begin(), shape.shape.end(), 0u) > 0;
  for (std::uint64_t extent : shape.shape) {
    if (!empty && extent > kValuesMax / count) {
      return cap_reached(place(index, shape.name), kValuesMax, "values",
                         fmt::format("shape [{}]", fmt::join(shape.shape, ", ")));
    }
    // Cannot overflow: the check above keeps the product at or below kValuesMax.
    count = empty ? 0 : count * extent;
  }
  if (count > kValuesMax - values_) {
    return cap_reached(place(index, shape.name), kValuesMax, "values in all layers",
                       fmt::format("{} after {}", count, values_));
  }
  layers_.push_back({std::move(shape.name), std::move(shape.shape), values_, count});
  values_ += count;
  return {};
}

Status LayerMap::index_names() {
  by_name_.resize(layers_.size());
  std::iota(by_name_.begin(), by_name_.end(), 0u);
  const auto name = [this](std::uint32_t i) -> const std::string& { return layers_[i].name; };
  // Stable, so that an error names the earlier layer of two with the same name as the original.
  std::ranges::stable_sort(by_name_, {}, name);
  const auto twice = std::ranges::adjacent_find(by_name_, {}, name);
  if (twice == by_name_.end()) return {};
  return Status(StatusCode::invalid_argument, {.what = place(*(twice + 1), name(*twice)),
                                               .expected = "a name that no other layer has",
                                               .got = fmt::format("the name of layer {}", *twice)});
}

const Layer* LayerMap::find(std::string_view name) const {
  const auto name_of = [this](std::uint32_t i) -> std::string_view { return layers_[i].name; };
  const auto found = std::ranges::lower_bound(by_name_, name, {}, name_of);
  return found != by_name_.end() && name_of(*found) == name ? &layers_[*found] : nullptr;
}

const Layer* LayerMap::at_offset(std::uint64_t offset) const {
  if (offset >= values_) return nullptr;
  // If several layers start at the same offset, only the last one is not empty.
  const auto after = std::ranges::upper_bound(layers_, offset, {}, &Layer::offset);
  return &*std::prev(after);
}

Bytes LayerMap::encode() const {
  Bytes bytes;
  ByteWriter writer(bytes);
  // Ignored on purpose: this writer has no limit, and the layers were checked against theirs.
  ignore_error(writer.write(kLayerMapMagic));
  ignore_error(writer.write(kLayerMapVersion));
  ignore_error(writer.write(static_cast<std::uint32_t>(layers_.size())));
  for (const Layer& layer : layers_) {
    ignore_error(writer.write(static_cast<std::uint16_t>(layer.name.size())));
    ignore_error(writer.append(bytes_of(layer.name)));
    ignore_error(writer.write(static_cast<std::uint8_t>(layer.shape.size())));
    ignore_error(writer.append(bytes_of(std::span<const std::uint64_t>(layer.shape))));
  }
  return bytes;
}

namespace {

Result<LayerShape> read_layer(ByteReader& reader) {
  LayerShape layer;
  TRIBUTARY_ASSIGN(const auto name_bytes, reader.read<std::uint16_t>("length of the name"));
  TRIBUTARY_ASSIGN(const ByteSpan name, reader.take(name_bytes, "name"));
  layer.name.assign(name.begin(), name.end());
  TRIBUTARY_ASSIGN(const auto dimensions, reader.read<std::uint8_t>("number of dimensions"));
  for (std::size_t i = 0; i < dimensions; ++i) {
    TRIBUTARY_ASSIGN(const auto extent, reader.read<std::uint64_t>("extent"));
    layer.shape.push_back(extent);
  }
  return layer;
}

Result<LayerMap> read_map(ByteSpan bytes) {
  ByteReader reader(bytes);
  TRIBUTARY_ASSIGN(const auto magic, reader.read<std::uint32_t>("magic number"));
  if (magic != kLayerMapMagic) {
    return Status(StatusCode::corrupt_data, {.what = "magic number",
                                             .expected = fmt::format("{:#010x}", kLayerMapMagic),
                                             .got = fmt::format("{:#010x}", magic)});
  }
  TRIBUTARY_ASSIGN(const auto version, reader.read<std::uint16_t>("version"));
  if (version != kLayerMapVersion) {
    return Status(StatusCode::unsupported, {.what = "version",
                                            .expected = fmt::format("{}", kLayerMapVersion),
                                            .got = fmt::format("{}", version),
                                            .remedy = "use the same release on both sides"});
  }
  TRIBUTARY_ASSIGN(const auto count, reader.read<std::uint32_t>("number of layers"));
  // Bounds the allocation by the size of the input.
  const std::size_t count_max = std::min(LayerMap::kLayersMax, reader.remaining() / kLayerBytesMin);
  if (count > count_max) {
    return Status(StatusCode::corrupt_data, {.what = "number of layers",
                                             .expected = fmt::format("at most {}", count_max),
                                             .got = fmt::format("{}", count)});
  }
  std::vector<LayerShape> shapes;
  shapes.reserve(count);
  for (std::uint32_t i = 0; i < count; ++i) {
    auto layer = read_layer(reader);
    if (!layer.ok()) return std::move(layer).status().at(fmt::format("layer {}", i));
    shapes.push_back(std::move(layer).value());
  }
  TRIBUTARY_TRY(reader.expect_end("layers"));
  return LayerMap::make(std::move(shapes));
}

}  // namespace

Result<LayerMap> LayerMap::decode(ByteSpan bytes) {
  auto map = read_map(bytes);
  if (!map.ok()) return std::move(map).status().at("layer map");
  return map;
}

}  // namespace tributary
