#include "core/codec/threelc/layout.h"

#include <fmt/format.h>

#include <algorithm>

namespace tributary::threelc {
namespace {

Status wrong_layers(std::size_t layer, std::size_t expected, std::size_t got) {
  return Status(StatusCode::invalid_argument,
                {.what = fmt::format("layers of a bucket, layer {}", layer),
                 .expected = fmt::format("one that begins at value {}", expected),
                 .got = fmt::format("{}", got),
                 .remedy = "give all layers of the bucket in order and without gaps, or none"});
}

}  // namespace

Result<Layout> Layout::make(const RoundContext& round, std::size_t values,
                            const LayoutOptions& options) {
  Layout layout;
  layout.zero_run_ = options.zero_run;
  if (round.layers.empty()) {
    layout.add_layer({.offset = 0, .count = values}, options);
    return layout;
  }
  std::size_t end = 0;
  for (std::size_t i = 0; i < round.layers.size(); ++i) {
    const LayerRun& layer = round.layers[i];
    if (layer.offset != end) return wrong_layers(i, end, layer.offset);
    layout.add_layer({.offset = layer.offset, .count = layer.count}, options);
    end += layer.count;
  }
  if (end != values) return wrong_layers(round.layers.size(), values, end);
  return layout;
}

// Adds a layer as a plain part, or as one or more packed parts.
void Layout::add_layer(const Part& layer, const LayoutOptions& options) {
  if (layer.count == 0) return;
  if (layer.count < options.bypass) {
    plain.push_back(layer);
    plain_values += layer.count;
    return;
  }
  const std::size_t block = options.block == 0 ? layer.count : options.block;
  for (std::size_t begin = 0; begin < layer.count; begin += block) {
    add_packed({.offset = layer.offset + begin, .count = std::min(block, layer.count - begin)},
               options.digits_per_byte);
  }
}

void Layout::add_packed(const Part& part, std::size_t digits_per_byte) {
  const std::size_t bytes = (part.count + digits_per_byte - 1) / digits_per_byte;
  // Chunks never cross a part, because each part has an M of its own.
  for (std::size_t begin = 0; begin < bytes; begin += kChunkBytes) {
    const std::size_t end = std::min(bytes, begin + kChunkBytes);
    chunks.push_back({.part = packed.size(),
                      .range = {.count = part.count, .begin = begin, .end = end},
                      .offset = packed_bytes + begin});
  }
  packed.push_back(part);
  packed_bytes += bytes;
}

}  // namespace tributary::threelc
