// Measures selection and the sparse codecs, compared with memcpy and the standard library's
// selection.
#include <fmt/format.h>

#include <cstring>
#include <functional>
#include <memory>
#include <numeric>
#include <vector>

#include "bench/harness/harness.h"
#include "bench/harness/peers.h"
#include "core/codec/registry.h"
#include "core/codec/sparse/elements.h"
#include "core/codec/sparse/gain.h"
#include "core/codec/sparse/select.h"

namespace tributary::sparse {
namespace {

using bench::Case;
using bench::Settings;
using bench::SharedUpdate;

Status mismatch(std::string what) {
  return Status(StatusCode::mismatch, {.what = std::move(what), .expected = "the peer's answer"});
}

std::uint32_t kept(const SharedUpdate& update) { return kept_of(0.01, update->size()); }

// The exact top k with ties to the lower index, by the standard library. A key orders by magnitude
// and then by descending index, so std::nth_element has one answer. The k indices are then sorted
// in ascending order, as the codecs do. The measured time includes making the keys, because they
// are not kept.
struct StandardSelection {
  explicit StandardSelection(SharedUpdate u) : update(std::move(u)), keys(update->size()) {}

  void run() {
    for (std::size_t i = 0; i < keys.size(); ++i) {
      keys[i] = std::uint64_t{magnitude_bits((*update)[i])} << 32 | ~static_cast<std::uint32_t>(i);
    }
    const auto end = keys.begin() + static_cast<std::ptrdiff_t>(kept(update));
    std::nth_element(keys.begin(), end - 1, keys.end(), std::greater());
    indices.assign(kept(update), 0);
    std::transform(keys.begin(), end, indices.begin(),
                   [](std::uint64_t key) { return ~static_cast<std::uint32_t>(key); });
    std::ranges::sort(indices);
  }

  SharedUpdate update;
  RawVector<std::uint64_t> keys;
  IndexVector indices;
};

// The selection of the codecs, on a number of threads.
struct Selection {
  Selection(SharedUpdate u, std::size_t threads) : update(std::move(u)), pool(threads) {}

  void run() {
    const auto places = selector.top({.pool = &pool}, *update, kept(update));
    indices = places.ok() ? *places : std::span<const std::uint32_t>();
  }

  SharedUpdate update;
  ThreadPool pool;
  Selector selector;
  std::span<const std::uint32_t> indices;
};

// A codec's encoder and decoder on a number of threads. Decoding must return the encoded values.
struct CodecRun {
  CodecRun(const std::string& spec, SharedUpdate u, std::size_t threads)
      : update(std::move(u)), pool(threads), decoded(update->size()) {
    auto made = make_codec(spec);
    if (!made.ok()) return;
    codec = std::move(*made);
    encoder = codec->make_encoder(static_cast<std::uint32_t>(update->size()));
  }

  StageCall call() { return {.round = {.job_seed = 1}, .execution = {.pool = &pool}}; }
  void encode() { status = encoder->encode(call(), *update, payload); }
  void decode() {
    if (payload.empty()) encode();
    status = codec->decode(call(), payload, decoded);
  }
  Status check() {
    TRIBUTARY_TRY(status);
    decode();
    TRIBUTARY_TRY(status);
    for (std::size_t i = 0; i < decoded.size(); ++i) {
      if (decoded[i] != 0 && decoded[i] != (*update)[i]) return mismatch("a decoded value");
    }
    return {};
  }

  SharedUpdate update;
  ThreadPool pool;
  std::unique_ptr<Codec> codec;
  std::unique_ptr<Encoder> encoder;
  FloatVector decoded;
  Bytes payload;
  Status status;
};

void add_codec(const std::string& spec, const SharedUpdate& update, double bytes,
               std::vector<Case>& cases) {
  for (const std::size_t threads : {1u, 2u}) {
    const auto codec = std::make_shared<CodecRun>(spec, update, threads);
    const auto name_of = [&](std::string_view verb) {
      return fmt::format("{} {}{}", spec, verb, threads == 1 ? "" : ", 2 threads");
    };
    const auto goals = [&](const std::string& name) -> std::vector<bench::Goal> {
      if (threads == 1) return {{.peer = "memcpy"}};
      return {{.peer = name, .ratio_min = 1.8}};
    };
    cases.push_back({.name = name_of("encode"),
                     .bytes = bytes,
                     .run = [codec] { codec->encode(); },
                     .check = [codec] { return codec->check(); },
                     .goals = goals(spec + " encode")});
    cases.push_back({.name = name_of("decode"),
                     .bytes = bytes,
                     .run = [codec] { codec->decode(); },
                     .check = [codec] { return codec->check(); },
                     .goals = goals(spec + " decode")});
  }
}

void add_selection(const SharedUpdate& update, double bytes, std::vector<Case>& cases) {
  const auto standard = std::make_shared<StandardSelection>(update);
  cases.push_back({.name = "std::nth_element",
                   .bytes = bytes,
                   .run = [standard] { standard->run(); },
                   .check =
                       [standard] {
                         return standard->indices.size() == kept(standard->update)
                                    ? Status()
                                    : mismatch("std::nth_element");
                       }});
  for (const std::size_t threads : {1u, 2u}) {
    const auto selection = std::make_shared<Selection>(update, threads);
    std::vector<bench::Goal> goals = {{.peer = "memcpy"},
                                      {.peer = "std::nth_element", .ratio_min = 6}};
    if (threads == 2) goals = {{.peer = "top-k selection", .ratio_min = 1.8}};
    cases.push_back({.name = threads == 1 ? "top-k selection" : "top-k selection, 2 threads",
                     .bytes = bytes,
                     .run = [selection] { selection->run(); },
                     .check =
                         [selection, standard] {
                           standard->run();
                           return std::ranges::equal(selection->indices, standard->indices)
                                      ? Status()
                                      : mismatch("top-k selection");
                         },
                     .goals = goals});
  }
}

std::vector<Case> sparse_cases(const Settings& settings) {
  const SharedUpdate update = bench::normal_update(settings.bucket_bytes);
  const auto bytes = static_cast<double>(settings.bucket_bytes);
  std::vector<Case> cases = {bench::memcpy_case(update), bench::zstd_encode_case(update, 1)};
  add_selection(update, bytes, cases);
  const auto curve = std::make_shared<double>(0);
  cases.push_back({.name = "gain curve",
                   .bytes = bytes,
                   .run = [=] { *curve = GainCurve({}, *update).at(kept(update)).low; },
                   .check = [=] { return *curve > 0 ? Status() : mismatch("gain"); },
                   .goals = {{.peer = "memcpy"}}});
  for (const char* spec : {"topk", "topk:cr=0.1", "mstopk", "threshold", "randk"}) {
    add_codec(spec, update, bytes, cases);
  }
  return cases;
}

const bench::Registration kSparse({.name = "codec.sparse",
                                   .about = "top-k selection and sparse codecs, CR 0.01",
                                   .build = sparse_cases});

}  // namespace
}  // namespace tributary::sparse
