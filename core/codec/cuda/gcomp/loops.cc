#include "core/codec/cuda/gcomp/loops.h"

#include <algorithm>
#include <array>

#include "core/codec/cuda/gcomp/gcomp.h"
#include "core/codec/cuda/workspace.h"
#include "core/codec/gcomp/chunk.h"

namespace tributary::TRIBUTARY_DEVICE {
namespace {

class GCompLoops final : public gcomp::DeviceLoops {
 public:
  explicit GCompLoops(Workspaces& workspaces) : workspaces_(workspaces) {}

  Result<gcomp::DeviceEncoded> encode(const gcomp::DeviceEncoding& what,
                                      MutableByteSpan out) override {
    gcomp::DeviceEncoded result;
    if (what.values.empty()) return result;
    const auto n = static_cast<std::uint32_t>(what.values.size());
    TRIBUTARY_ASSIGN(Workspace space, workspaces_.take());
    TRIBUTARY_ASSIGN(const float* const x, space.upload(what.values));
    GCompEncoding encoding = {
        .x = x,
        .n = n,
        .rule = what.rule,
        .exact = what.exact,
        .coded = what.coded,
        .chunk_levels = what.chunk_levels && what.rule.kind != gcomp::LevelRule::Kind::fixed,
        .level = what.level};
    TRIBUTARY_TRY(upload_rule(space, what.values.size(), encoding.rule));

    BookMaking making = {};
    const bool makes_book = what.coded && what.book == nullptr;
    if (makes_book || what.count) {
      TRIBUTARY_ASSIGN(making, make_book_arrays(space));
      TRIBUTARY_TRY(count_exponents(space.queue(), x, n, making));
    }
    CodeTable table = {};  // until the copy is done
    if (makes_book) {
      TRIBUTARY_TRY(make_code_table(space.queue(), what.code_bits_max, making));
      encoding.table = making.table;
    } else if (what.coded) {
      table = code_table(*what.book);
      TRIBUTARY_ASSIGN(encoding.table, space.upload(std::span<const CodeTable>(&table, 1)));
    }

    TRIBUTARY_TRY(make_arrays(space, encoding));
    TRIBUTARY_ASSIGN(encoding.body, space.array<std::uint8_t>(out.size()));
    TRIBUTARY_TRY(encode_chunks(space.queue(), encoding));

    RawVector<ChunkTotals> totals(gcomp_chunks(n));
    std::array<std::uint32_t, gcomp::kExponents> histogram = {};
    TRIBUTARY_TRY(space.download(encoding.totals, std::span(totals)));
    if (what.count)
      TRIBUTARY_TRY(space.download(making.histogram, std::span<std::uint32_t>(histogram)));
    if (makes_book) TRIBUTARY_TRY(space.download(making.bytes, MutableByteSpan(result.book)));
    TRIBUTARY_TRY(space.wait());
    result.bytes = totals.size() * sizeof(std::uint32_t);
    for (const ChunkTotals& chunk : totals) {
      result.bytes += chunk.bytes;
      result.escapes += chunk.escapes;
      result.misfit = result.misfit || chunk.misfit != 0;
      result.bits_dropped += chunk.bits_dropped;
    }
    std::ranges::copy(histogram, result.histogram.begin());
    TRIBUTARY_TRY(space.download(encoding.body, out.first(result.bytes)));
    TRIBUTARY_TRY(space.wait());
    return result;
  }

  Result<gcomp::DeviceDecoded> decode(ByteSpan body, std::span<const std::size_t> begins,
                                      const gcomp::Codebook* book,
                                      std::span<float> values) override {
    if (values.empty()) return gcomp::DeviceDecoded{.sound = true, .largest = 0};
    const auto n = static_cast<std::uint32_t>(values.size());
    RawVector<std::uint32_t> offsets;
    for (const std::size_t begin : begins) offsets.push_back(static_cast<std::uint32_t>(begin));
    std::array<std::uint32_t, 2> found = {};  // the largest magnitude, and whether there is a fault
    DecodeTable table = {};
    TRIBUTARY_ASSIGN(Workspace space, workspaces_.take());
    GCompDecoding decoding = {.n = n};
    TRIBUTARY_ASSIGN(decoding.body, space.upload(body));
    TRIBUTARY_ASSIGN(decoding.begins, space.upload(std::span(offsets)));
    if (book != nullptr) {
      table = decode_table(*book);
      TRIBUTARY_ASSIGN(decoding.table, space.upload(std::span<const DecodeTable>(&table, 1)));
    }
    TRIBUTARY_TRY(make_arrays(space, decoding));
    TRIBUTARY_ASSIGN(decoding.x, space.array<float>(n));
    TRIBUTARY_ASSIGN(decoding.largest, space.upload(std::span<const std::uint32_t>(found)));
    decoding.faults = decoding.largest + 1;
    TRIBUTARY_TRY(decode_chunks(space.queue(), decoding));
    TRIBUTARY_TRY(space.download(decoding.largest, std::span<std::uint32_t>(found)));
    TRIBUTARY_TRY(space.download(decoding.x, values));
    TRIBUTARY_TRY(space.wait());
    return gcomp::DeviceDecoded{.sound = found[1] == 0, .largest = found[0]};
  }

 private:
  // Replaces the rule's pointers by copies on the device. Equal ones share a copy.
  static Status upload_rule(Workspace& space, std::size_t n, gcomp::LevelRule& rule) {
    if (rule.kind == gcomp::LevelRule::Kind::fixed) return {};
    const gcomp::LevelRule host = rule;
    TRIBUTARY_ASSIGN(rule.parameters, space.upload(std::span(host.parameters, n)));
    rule.first = rule.second = rule.parameters;
    if (host.first != host.parameters) {
      TRIBUTARY_ASSIGN(rule.first, space.upload(std::span(host.first, n)));
    }
    if (host.second != host.parameters && rule.kind == gcomp::LevelRule::Kind::adaptive) {
      TRIBUTARY_ASSIGN(rule.second, space.upload(std::span(host.second, n)));
    }
    return {};
  }

  Workspaces& workspaces_;
};

}  // namespace

Result<BookMaking> make_book_arrays(Workspace& space) {
  BookMaking making;
  TRIBUTARY_ASSIGN(making.rows, space.array<std::uint32_t>(BookMaking::kRows * gcomp::kExponents));
  TRIBUTARY_ASSIGN(making.histogram, space.array<std::uint32_t>(gcomp::kExponents));
  TRIBUTARY_ASSIGN(making.ordered, space.array<std::uint32_t>(gcomp::kExponents + 1));
  TRIBUTARY_ASSIGN(making.costs, space.array<std::uint32_t>(gcomp::kExponents));
  TRIBUTARY_ASSIGN(making.table, space.array<CodeTable>(1));
  TRIBUTARY_ASSIGN(making.bytes, space.array<std::uint8_t>(gcomp::kCodebookBytes));
  return making;
}

Status make_arrays(Workspace& space, GCompEncoding& encoding) {
  const std::size_t segments = gcomp_segments(encoding.n);
  const std::size_t chunks = gcomp_chunks(encoding.n);
  TRIBUTARY_ASSIGN(encoding.states, space.array<std::uint32_t>(segments * gcomp::kStreams));
  TRIBUTARY_ASSIGN(encoding.counts, space.array<SegmentCounts>(segments));
  if (encoding.values_have_levels()) {
    TRIBUTARY_ASSIGN(encoding.levels, space.array<std::uint32_t>(segments * gcomp::kStreams));
  }
  if (encoding.chunk_levels) {
    TRIBUTARY_ASSIGN(encoding.chunk_level, space.array<std::uint32_t>(chunks));
  }
  TRIBUTARY_ASSIGN(encoding.segments, space.array<SegmentPlan>(segments));
  TRIBUTARY_ASSIGN(encoding.chunks, space.array<ChunkPlan>(chunks));
  TRIBUTARY_ASSIGN(encoding.totals, space.array<ChunkTotals>(chunks));
  return {};
}

Status make_arrays(Workspace& space, GCompDecoding& decoding) {
  const std::size_t chunks = gcomp_chunks(decoding.n);
  TRIBUTARY_ASSIGN(decoding.exponents, space.array<std::uint8_t>(chunks * kGCompChunk));
  TRIBUTARY_ASSIGN(decoding.plans, space.array<DecodePlan>(chunks));
  return {};
}

std::unique_ptr<gcomp::DeviceLoops> make_gcomp_loops(Workspaces& workspaces) {
  return std::make_unique<GCompLoops>(workspaces);
}

}  // namespace tributary::TRIBUTARY_DEVICE
