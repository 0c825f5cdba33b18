#include "core/train/model/safetensors.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

namespace tributary {
namespace {

// Keeps the header's keys in the order of insertion, which is the order of the layers.
using OrderedJson = nlohmann::ordered_json;
using PlainJson = nlohmann::json;

constexpr std::string_view kMetadata = "__metadata__";
constexpr std::size_t kLengthBytes = 8;
constexpr std::size_t kAlignment = 8;
constexpr int kHeaderDepthMax = 3;  // header, tensor, array

Status damaged(std::string what, std::string expected, std::string got) {
  return Status(StatusCode::corrupt_data, {.what = "safetensors: " + std::move(what),
                                           .expected = std::move(expected),
                                           .got = std::move(got),
                                           .remedy = "write the file again"});
}

// An entry of the header; begin and end are offsets in the data after the header.
struct Tensor {
  LayerShape shape;
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

// Rejects values nested deeper than kHeaderDepthMax while parsing, so a hostile header cannot build
// a large or deep tree.
Result<PlainJson> parse_header(ByteSpan text) {
  bool too_deep = false;
  const auto keep = [&](int depth, PlainJson::parse_event_t, PlainJson&) {
    too_deep = too_deep || depth > kHeaderDepthMax;
    return depth <= kHeaderDepthMax;
  };
  PlainJson header = PlainJson::parse(text.begin(), text.end(), keep, false);
  if (header.is_object() && !too_deep) return header;
  return damaged("header", "a JSON object of tensors", too_deep ? "a deeper one" : "another text");
}

Result<SafetensorsMetadata> read_metadata(const PlainJson& json) {
  SafetensorsMetadata metadata;
  if (!json.is_object()) return damaged("metadata", "texts by name", json.type_name());
  for (const auto& [key, value] : json.items()) {
    if (!value.is_string()) return damaged("metadata", "texts", value.type_name());
    metadata[key] = value.get<std::string>();
  }
  return metadata;
}

bool is_list_of_numbers(const PlainJson& json) {
  return json.is_array() &&
         std::ranges::all_of(json, [](const PlainJson& each) { return each.is_number_unsigned(); });
}

// Requires exactly the three members of the format, with the right types.
Result<Tensor> read_tensor(const std::string& name, const PlainJson& json) {
  const std::string what = fmt::format("tensor '{}'", name);
  if (!json.is_object() || json.size() != 3 || !json.contains("dtype") || !json.contains("shape") ||
      !json.contains("data_offsets") || !json["dtype"].is_string() ||
      !is_list_of_numbers(json["shape"]) || !is_list_of_numbers(json["data_offsets"]) ||
      json["data_offsets"].size() != 2) {
    return damaged(what, "dtype, shape and two data_offsets", "something else");
  }
  if (json["dtype"] != "F32") {
    return Status(StatusCode::unsupported, {.what = "safetensors: " + what,
                                            .expected = "F32",
                                            .got = json["dtype"].get<std::string>(),
                                            .remedy = "convert it to float32"});
  }
  return Tensor{.shape = {.name = name, .shape = json["shape"].get<std::vector<std::uint64_t>>()},
                .begin = json["data_offsets"][0].get<std::uint64_t>(),
                .end = json["data_offsets"][1].get<std::uint64_t>()};
}

// Tensors must lie one after another, without gaps from the first byte of the data to the last, and
// each must have the size of its shape.
Status check_places(const std::vector<Tensor>& tensors, const LayerMap& layers,
                    std::uint64_t data_bytes) {
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const Layer& layer = layers.layers()[i];
    const std::uint64_t begin = layer.offset * sizeof(float);
    const std::uint64_t end = begin + layer.count * sizeof(float);
    if (tensors[i].begin == begin && tensors[i].end == end) continue;
    return damaged(fmt::format("tensor '{}'", layer.name),
                   fmt::format("bytes {} to {}", begin, end),
                   fmt::format("{} to {}", tensors[i].begin, tensors[i].end));
  }
  if (layers.values() * sizeof(float) == data_bytes) return {};
  return damaged("values", fmt::format("{} bytes", layers.values() * sizeof(float)),
                 fmt::format("{}", data_bytes));
}

Result<std::vector<Tensor>> read_tensors(const PlainJson& header, SafetensorsMetadata& metadata) {
  // One member more than layers: the metadata.
  if (header.size() > LayerMap::kLayersMax + 1) {
    return Status(StatusCode::resource_exhausted,
                  {.what = "safetensors: tensors",
                   .expected = fmt::format("up to {}", LayerMap::kLayersMax),
                   .got = fmt::format("{}", header.size()),
                   .remedy = "split the model"});
  }
  std::vector<Tensor> tensors;
  for (const auto& [name, json] : header.items()) {
    if (name == kMetadata) {
      TRIBUTARY_ASSIGN(metadata, read_metadata(json));
      continue;
    }
    TRIBUTARY_ASSIGN(Tensor tensor, read_tensor(name, json));
    tensors.push_back(std::move(tensor));
  }
  // The header may name tensors in any order. Empty tensors sort before the tensor that begins at
  // the same offset.
  std::ranges::stable_sort(tensors, {},
                           [](const Tensor& each) { return std::pair(each.begin, each.end); });
  return tensors;
}

}  // namespace

Result<Bytes> write_safetensors(const LayerMap& layers, std::span<const float> values,
                                const SafetensorsMetadata& metadata) {
  if (values.size() != layers.values() || layers.find(kMetadata)) {
    return Status(
        StatusCode::invalid_argument,
        {.what = "safetensors: model",
         .expected = fmt::format("{} values, and no layer called {}", layers.values(), kMetadata),
         .got = fmt::format("{} values", values.size()),
         .remedy = "export the values with the layer map that they belong to"});
  }
  OrderedJson header = {{kMetadata, metadata}};
  for (const Layer& layer : layers.layers()) {
    const std::uint64_t begin = layer.offset * sizeof(float);
    header[layer.name] = {{"dtype", "F32"},
                          {"shape", layer.shape},
                          {"data_offsets", {begin, begin + layer.count * sizeof(float)}}};
  }
  std::string text = header.dump(-1, ' ', false, OrderedJson::error_handler_t::replace);
  // Padding aligns the values to 8 bytes, so that a reader can map the file.
  text.resize((text.size() + kAlignment - 1) / kAlignment * kAlignment, ' ');
  Bytes file;
  file.reserve(kLengthBytes + text.size() + values.size_bytes());
  for (std::size_t i = 0; i < kLengthBytes; ++i) {
    file.push_back(static_cast<std::uint8_t>(text.size() >> (8 * i)));
  }
  const ByteSpan header_bytes = bytes_of(text);
  file.insert(file.end(), header_bytes.begin(), header_bytes.end());
  const ByteSpan value_bytes = bytes_of(values);
  file.insert(file.end(), value_bytes.begin(), value_bytes.end());
  return file;
}

Result<Safetensors> read_safetensors(ByteSpan file) {
  std::uint64_t length = 0;
  if (file.size() < kLengthBytes) {
    return damaged("file", "8 bytes or more", fmt::format("{}", file.size()));
  }
  for (std::size_t i = 0; i < kLengthBytes; ++i) length |= std::uint64_t{file[i]} << (8 * i);
  const ByteSpan rest = file.subspan(kLengthBytes);
  if (length > rest.size() || length > kSafetensorsHeaderMax) {
    return damaged(
        "length of the header",
        fmt::format("up to {}", std::min<std::uint64_t>(rest.size(), kSafetensorsHeaderMax)),
        fmt::format("{}", length));
  }
  TRIBUTARY_ASSIGN(const PlainJson header, parse_header(rest.first(length)));
  SafetensorsMetadata metadata;
  TRIBUTARY_ASSIGN(const std::vector<Tensor> tensors, read_tensors(header, metadata));
  std::vector<LayerShape> shapes;
  for (const Tensor& tensor : tensors) shapes.push_back(tensor.shape);
  TRIBUTARY_ASSIGN(LayerMap layers, LayerMap::make(std::move(shapes)));
  const ByteSpan data = rest.subspan(length);
  TRIBUTARY_TRY(check_places(tensors, layers, data.size()));
  FloatVector values(data.size() / sizeof(float));
  if (!data.empty()) std::memcpy(values.data(), data.data(), data.size());
  return Safetensors{
      .layers = std::move(layers), .values = std::move(values), .metadata = std::move(metadata)};
}

}  // namespace tributary
