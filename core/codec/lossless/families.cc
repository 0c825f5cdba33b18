// The codecs zstd and zlib. They compress the bytes of a bucket, or its four byte planes, in
// independent pieces, so that threads can work on several pieces at once.
//
//   body: compressed size of every piece, u32; then the pieces
#include "core/codec/lossless/families.h"

#include <array>
#include <atomic>
#include <mutex>

#include "core/codec/aggregate/aggregate.h"
#include "core/codec/chunks.h"
#include "core/codec/finite.h"
#include "core/codec/lossless/compressor.h"
#include "core/codec/lossless/planes.h"
#include "core/codec/payload.h"

namespace tributary::lossless {
namespace {

// 1 MiB per piece. Larger pieces do not compress better, because gradients contain no long
// repetitions.
constexpr std::size_t kPieceValues = 256 * 1024;
constexpr std::size_t kPieceBytes = kPieceValues * sizeof(float);

constexpr Stage kLosslessStages[] = {{"bytes", Combine::gather}};

// The size of a piece is part of the format, because a decoder derives the number of pieces from
// it.
std::size_t pieces_of(std::size_t values) { return (values + kPieceValues - 1) / kPieceValues; }

// Keeps one error of several threads; later errors are dropped. take() is called after all threads
// have finished.
class FirstError {
 public:
  void note(Status status) {
    if (status.ok()) return;
    const std::lock_guard lock(mutex_);
    if (status_.ok()) status_ = std::move(status);
  }
  Status take() { return std::move(status_); }

 private:
  std::mutex mutex_;
  Status status_;
};

struct Options {
  const Compressor* compressor;
  bool planes;
};

// Stateless between rounds.
class PieceEncoder final : public Encoder {
 public:
  PieceEncoder(const Codec& codec, const Options& options) : codec_(codec), options_(options) {}

  // Each piece is compressed into a slot of the maximum size, in parallel. The pieces are then
  // moved together, because only then are all sizes known.
  Status encode(const StageCall& call, std::span<const float> values, Bytes& payload) override {
    const std::size_t pieces = pieces_of(values.size());
    const std::size_t table_bytes = pieces * sizeof(std::uint32_t);
    const std::size_t piece_bound = options_.compressor->bound(kPieceBytes);
    const MutableByteSpan body =
        start_payload({.spec = codec_.spec(),
                       .contributors = call.contributors,
                       .values = static_cast<std::uint32_t>(values.size())},
                      table_bytes + pieces * piece_bound, payload);
    std::vector<std::uint32_t> sizes(pieces);
    FirstError error;
    for_each_chunk(call.execution, values.size(), kPieceValues,
                   [&](std::size_t piece, std::size_t begin, std::size_t end) {
                     Result<std::size_t> size =
                         encode_piece(values.subspan(begin, end - begin),
                                      body.subspan(table_bytes + piece * piece_bound, piece_bound));
                     if (size.ok()) sizes[piece] = static_cast<std::uint32_t>(*size);
                     error.note(std::move(size).status());
                   });
    TRIBUTARY_TRY(error.take());
    std::size_t end = table_bytes;
    for (std::size_t piece = 0; piece < pieces; ++piece) {
      std::memmove(body.data() + end, body.data() + table_bytes + piece * piece_bound,
                   sizes[piece]);
      end += sizes[piece];
    }
    if (pieces > 0) std::memcpy(body.data(), sizes.data(), table_bytes);
    shrink_body(end, payload);
    seal_payload(call.execution, payload);
    return {};
  }

 private:
  Result<std::size_t> encode_piece(std::span<const float> values, MutableByteSpan out) const {
    if (!options_.planes) return options_.compressor->compress(bytes_of(values), out);
    // Temporary memory of one piece per thread.
    Bytes planes(values.size_bytes());
    split_planes(values, planes);
    return options_.compressor->compress(planes, out);
  }

  const Codec& codec_;
  const Options options_;
};

// Payloads cannot be added in compressed form, so an aggregator decodes, adds and encodes again.
class LosslessCodec final : public Codec {
 public:
  LosslessCodec(std::string spec, const Options& options)
      : spec_(std::move(spec)), options_(options) {}

  const std::string& spec() const override { return spec_; }
  std::span<const Stage> stages() const override { return kLosslessStages; }
  Aggregation aggregation() const override { return Aggregation::reduce; }
  bool lossy() const override { return false; }

  std::unique_ptr<Encoder> make_encoder(std::uint32_t) const override {
    return std::make_unique<PieceEncoder>(*this, options_);
  }
  std::unique_ptr<Aggregator> make_aggregator(std::size_t, std::uint32_t values) const override {
    return make_decoding_aggregator(*this, values);
  }

  Status decode(const StageCall& call, ByteSpan payload, std::span<float> sum) const override {
    TRIBUTARY_ASSIGN(const OpenPayload open,
                     open_payload_of(*this, 0, sum.size(), call.execution, payload));
    TRIBUTARY_ASSIGN(const std::vector<ByteSpan> pieces, find_pieces(open.body, sum.size()));
    FirstError error;
    std::atomic<bool> addable = true;
    const float limit = addend_max(call, open.header.contributors);
    for_each_chunk(call.execution, sum.size(), kPieceValues,
                   [&](std::size_t piece, std::size_t begin, std::size_t end) {
                     const std::span<float> values = sum.subspan(begin, end - begin);
                     Status status = decode_piece(pieces[piece], values);
                     // The piece is still in the cache.
                     if (call.finite_only && status.ok() && !within_magnitude(values, limit))
                       addable = false;
                     error.note(std::move(status));
                   });
    TRIBUTARY_TRY(error.take());
    if (addable) return {};
    return beyond_addend_error(spec_ + " payload", call, open.header.contributors);
  }

 private:
  // The table of sizes is untrusted: the pieces must lie within the body and fill it completely.
  Result<std::vector<ByteSpan>> find_pieces(ByteSpan body, std::size_t values) const {
    ByteReader table(body);
    std::vector<std::uint32_t> sizes(pieces_of(values));
    for (std::uint32_t& size : sizes) {
      TRIBUTARY_ASSIGN(size, table.read<std::uint32_t>("size of a piece"));
    }
    std::vector<ByteSpan> pieces;
    for (const std::uint32_t size : sizes) {
      TRIBUTARY_ASSIGN(const ByteSpan piece, table.take(size, "piece"));
      pieces.push_back(piece);
    }
    TRIBUTARY_TRY(table.expect_end("pieces"));
    return pieces;
  }

  Status decode_piece(ByteSpan piece, std::span<float> values) const {
    const MutableByteSpan out(reinterpret_cast<std::uint8_t*>(values.data()), values.size_bytes());
    if (!options_.planes) return options_.compressor->decompress(piece, out);
    Bytes planes(values.size_bytes());
    TRIBUTARY_TRY(options_.compressor->decompress(piece, planes));
    join_planes(planes, values);
    return {};
  }

  const std::string spec_;
  const Options options_;
};

constexpr std::array<std::string_view, 2> kLayouts = {"values", "planes"};
constexpr ParamSpec kLayout = {.name = "layout",
                               .kind = ParamKind::choice,
                               .default_value = "values",
                               .choices = kLayouts,
                               .help = "planes: each of a float32's four bytes by itself"};

constexpr std::array<ParamSpec, 2> level_and_layout(std::string_view level, double max) {
  return {{{.name = "level",
            .kind = ParamKind::integer,
            .default_value = level,
            .min = 1,
            .max = max,
            .help = "the library's own"},
           kLayout}};
}
constexpr auto kZstdParams = level_and_layout("1", 19);
constexpr auto kZlibParams = level_and_layout("1", 9);

template <const Compressor& (*kLibrary)(int)>
Result<std::unique_ptr<Codec>> make(std::string_view name, const Params& params) {
  const Options options = {.compressor = &kLibrary(static_cast<int>(params.integer("level"))),
                           .planes = params.choice("layout") == "planes"};
  return std::unique_ptr<Codec>(std::make_unique<LosslessCodec>(params.canonical(name), options));
}
Result<std::unique_ptr<Codec>> make_zstd(const Params& params) {
  return make<zstd_compressor>("zstd", params);
}
Result<std::unique_ptr<Codec>> make_zlib(const Params& params) {
  return make<zlib_compressor>("zlib", params);
}

constexpr std::array<CodecFamily, 2> kFamilies = {{
    {.name = "zstd", .summary = "zstd, lossless", .params = kZstdParams, .make = make_zstd},
    {.name = "zlib",
     .summary = "zlib (deflate), lossless",
     .params = kZlibParams,
     .make = make_zlib},
}};

}  // namespace

std::span<const CodecFamily> families() { return kFamilies; }

}  // namespace tributary::lossless
