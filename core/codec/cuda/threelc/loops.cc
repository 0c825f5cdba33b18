#include "core/codec/cuda/threelc/loops.h"

#include <algorithm>

#include "core/codec/threelc/elements.h"

namespace tributary::TRIBUTARY_DEVICE {
namespace {

using threelc::Chunk;
using threelc::Layout;
using threelc::Part;
using threelc::TernaryOptions;

// The tables of a layout, on the host.
class TernaryTiling {
 public:
  // Tiles of `aligned` packed bytes begin at multiples of 16 bytes. Otherwise they follow each
  // other as they do in a body.
  TernaryTiling(const Layout& layout, std::size_t digits_per_byte, bool aligned) : layout_(layout) {
    std::uint32_t at = 0;
    for (const Part& part : layout.plain) {
      plain_.push_back({index(part.offset), index(part.count), at});
      at += index(part.count);
    }
    for (const Part& part : layout.packed) {
      const std::size_t bytes = (part.count + digits_per_byte - 1) / digits_per_byte;
      parts_.push_back({index(part.offset), index(part.count), index(bytes), 0, 0});
    }
    for (std::size_t i = 0; i < layout.chunks.size(); ++i) add_chunk(i, aligned);
  }

  // Copies the tables to the device. The object must live until the workspace has waited.
  Result<TernaryTables> upload(Workspace& space) const {
    TernaryTables tables = {.plain = nullptr,
                            .parts = nullptr,
                            .tiles = nullptr,
                            .plain_count = index(plain_.size()),
                            .part_count = index(parts_.size()),
                            .tile_count = index(tiles_.size()),
                            .units_at = index(layout_.units_at()),
                            .lengths_at = index(layout_.lengths_at()),
                            .chunks_at = index(layout_.chunks_at())};
    TRIBUTARY_ASSIGN(tables.plain, space.upload(std::span(plain_)));
    TRIBUTARY_ASSIGN(tables.parts, space.upload(std::span(parts_)));
    TRIBUTARY_ASSIGN(tables.tiles, space.upload(std::span(tiles_)));
    return tables;
  }

  std::size_t tiles() const { return tiles_.size(); }
  std::size_t packed_bytes() const { return packed_bytes_; }

 private:
  // A bucket has at most 2^26 values, so all sizes fit.
  static std::uint32_t index(std::size_t number) { return static_cast<std::uint32_t>(number); }

  void add_chunk(std::size_t i, bool aligned) {
    const Chunk& chunk = layout_.chunks[i];
    PackedPart& part = parts_[chunk.part];
    if (chunk.range.begin == 0) part.first_tile = index(tiles_.size());
    for (std::size_t begin = chunk.range.begin; begin < chunk.range.end;
         begin += ternary_tile_bytes()) {
      const std::size_t end = std::min(chunk.range.end, begin + ternary_tile_bytes());
      tiles_.push_back({.part = index(chunk.part),
                        .chunk = index(i),
                        .begin = index(begin),
                        .end = index(end),
                        .packed_at = index(packed_bytes_)});
      packed_bytes_ += end - begin;
      if (aligned) packed_bytes_ = (packed_bytes_ + 15) / 16 * 16;
      ++part.tiles;
    }
  }

  const Layout& layout_;
  std::vector<PlainPart> plain_;
  std::vector<PackedPart> parts_;
  std::vector<PackedTile> tiles_;
  std::size_t packed_bytes_ = 0;
};

TernaryFormat format_of(const TernaryOptions& options, StreamKey draws) {
  return {.random_digits = options.random_digits,
          .two_bit = options.two_bit,
          .zero_run = options.zero_run,
          .sparsity = options.sparsity,
          .clip = options.clip,
          .order_margin = kOrderMargin,
          .key = draws};
}

// The device has no kernels for the other combinations, which no family makes.
bool has_kernels(const TernaryOptions& options) {
  return options.two_bit ? options.random_digits && !options.zero_run
                         : !(options.random_digits && options.zero_run);
}

class TernaryLoops final : public threelc::DeviceLoops {
 public:
  explicit TernaryLoops(Workspaces& workspaces) : workspaces_(workspaces) {}

  Result<Encoded> encode(const TernaryOptions& options, const Layout& layout, StreamKey draws,
                         std::span<const float> values, MutableByteSpan body) override {
    TRIBUTARY_ASSIGN(Workspace space, workspaces_.take());
    TRIBUTARY_ASSIGN(const auto* const x, space.upload(values));
    TRIBUTARY_ASSIGN(const TernaryEncoding encoding,
                     prepare_ternary_encoding(space, options, layout, draws, x));
    TRIBUTARY_TRY(encode_ternary(space.queue(), encoding));
    TernaryResult result = {};
    TRIBUTARY_TRY(space.download(encoding.result, std::span(&result, 1)));
    TRIBUTARY_TRY(space.wait());
    if (result.largest >= kInfinityBits) return Encoded{};
    const std::size_t bytes =
        layout.chunks_at() + (options.zero_run ? result.chunk_bytes : layout.packed_bytes);
    TRIBUTARY_TRY(space.download(encoding.body, body.first(bytes)));
    TRIBUTARY_TRY(space.wait());
    return Encoded{.finite = true, .bytes = bytes};
  }

  Status decode(const TernaryOptions& options, const Layout& layout, ByteSpan body, bool add,
                std::span<float> sum) override {
    TRIBUTARY_ASSIGN(Workspace space, workspaces_.take());
    TRIBUTARY_ASSIGN(const auto* const coded, space.upload(body));
    TRIBUTARY_ASSIGN(auto* const x,
                     add ? space.upload(std::span<const float>(sum)) : space.target(sum));
    TRIBUTARY_ASSIGN(const TernaryDecoding decoding,
                     prepare_ternary_decoding(space, options, layout, coded, body.size(), add, x));
    TRIBUTARY_TRY(decode_ternary(space.queue(), decoding));
    if (!add) {
      TRIBUTARY_TRY(space.download(x, sum));
      return space.wait();
    }
    // `sum` must be unchanged if a copy fails, because the host adds to it then.
    FloatVector added(sum.size());
    TRIBUTARY_TRY(space.download(x, std::span(added)));
    TRIBUTARY_TRY(space.wait());
    std::ranges::copy(added, sum.begin());
    return {};
  }

 private:
  Workspaces& workspaces_;
};

Status no_kernels() {
  return Status(StatusCode::unsupported, {.what = "kernels for a codec with three values",
                                          .expected = "zero runs of rounded digits, or none",
                                          .got = "another combination",
                                          .remedy = "encode on the host"});
}

}  // namespace

std::unique_ptr<threelc::DeviceLoops> make_ternary_loops(Workspaces& workspaces) {
  return std::make_unique<TernaryLoops>(workspaces);
}

Result<TernaryEncoding> prepare_ternary_encoding(Workspace& space, const TernaryOptions& options,
                                                 const Layout& layout, StreamKey draws,
                                                 const float* x) {
  if (!has_kernels(options)) return no_kernels();
  const TernaryTiling tiling(layout, options.layout().digits_per_byte, options.zero_run);
  const TernaryResult nothing = {};
  TernaryEncoding e = {};
  e.format = format_of(options, draws);
  e.x = x;
  TRIBUTARY_ASSIGN(e.tables, tiling.upload(space));
  TRIBUTARY_ASSIGN(e.result, space.upload(std::span(&nothing, 1)));
  TRIBUTARY_ASSIGN(e.body, space.array<std::uint8_t>(layout.chunks_at() + layout.packed_bytes));
  TRIBUTARY_ASSIGN(e.largest, space.array<std::uint32_t>(tiling.tiles()));
  TRIBUTARY_ASSIGN(e.squares, space.array<double>(tiling.tiles()));
  if (options.zero_run) {
    TRIBUTARY_ASSIGN(e.runs, space.array<TileRuns>(tiling.tiles()));
    TRIBUTARY_ASSIGN(e.entering, space.array<std::uint32_t>(tiling.tiles()));
    TRIBUTARY_ASSIGN(e.before, space.array<std::uint32_t>(tiling.tiles() + 1));
    TRIBUTARY_ASSIGN(e.packed, space.array<std::uint8_t>(tiling.packed_bytes()));
  }
  TRIBUTARY_TRY(space.wait());  // the copies of the tables
  return e;
}

Result<TernaryDecoding> prepare_ternary_decoding(Workspace& space, const TernaryOptions& options,
                                                 const Layout& layout, const std::uint8_t* body,
                                                 std::size_t body_bytes, bool add, float* x) {
  const TernaryTiling tiling(layout, options.layout().digits_per_byte, false);
  const auto coded = static_cast<std::uint32_t>(body_bytes - layout.chunks_at());
  TernaryDecoding d = {};
  d.format = format_of(options, {});
  TRIBUTARY_ASSIGN(d.tables, tiling.upload(space));
  d.body = body;
  d.body_bytes = static_cast<std::uint32_t>(body_bytes);
  d.x = x;
  d.add = add;
  if (options.zero_run) {
    d.packed_bytes = static_cast<std::uint32_t>(layout.packed_bytes);
    TRIBUTARY_ASSIGN(d.before, space.array<std::uint32_t>(coded_tiles(coded) + 1));
    TRIBUTARY_ASSIGN(d.packed, space.array<std::uint8_t>(layout.packed_bytes));
  }
  TRIBUTARY_TRY(space.wait());  // the copies of the tables
  return d;
}

}  // namespace tributary::TRIBUTARY_DEVICE
