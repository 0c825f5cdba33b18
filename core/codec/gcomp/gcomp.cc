// The codec gcomp: its payload, its encoder with the codebooks, and its decoder.
//
//   body of layout 0:           bytes of every chunk, u32; the chunks
//   body of layout 1: codebook; bytes of every chunk, u32; the chunks
//
// The size of every chunk is a multiple of 4 bytes.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "core/codec/aggregate/aggregate.h"
#include "core/codec/chunks.h"
#include "core/codec/device/codec_device.h"
#include "core/codec/finite.h"
#include "core/codec/gcomp/chunk.h"
#include "core/codec/gcomp/device/device_loops.h"
#include "core/codec/gcomp/families.h"
#include "core/codec/optimizer_view.h"
#include "core/codec/payload.h"

namespace tributary::gcomp {
namespace {

constexpr Stage kStages[] = {{"values", Combine::gather}};

constexpr std::uint8_t kRawLayout = 0;
constexpr std::uint8_t kCodedLayout = 1;
// A codebook and the states of the streams take 400 bytes, so smaller buckets have neither.
constexpr std::size_t kCodedValuesMin = 1024;
// A histogram samples at most this number of chunks, about a million values.
constexpr std::size_t kHistogramChunksMax = 16;
// A codebook is outdated if more than one in this number of values is escaped.
constexpr std::size_t kValuesPerEscapeMin = 64;
// The bits that truncation=feedback adds to the slack: 18 bits are left out where a gradient moves
// its parameter by less than 2^-6 of the other terms. These bits move it by less than 2^-11 of
// them.
constexpr int kFeedbackSlackBits = 12;

// The codec's parameters, after parsing.
struct Options {
  bool by_metric = false;
  bool chunk_levels = false;  // the metric chooses a level for each chunk, not for each value
  bool exact = false;
  unsigned level = 0;  // without a metric
  int slack_bits = 0;
  std::uint64_t rebuild_rounds = 0;
  unsigned code_bits_max = 0;

  static Options from(const Params& params) {
    const std::string_view truncation = params.choice("truncation");
    Options options;
    options.chunk_levels = truncation == "feedback";
    options.by_metric = truncation == "metric" || options.chunk_levels;
    options.exact = truncation == "none";
    if (truncation == "6") options.level = 1;
    if (truncation == "12" || options.chunk_levels) options.level = 2;
    if (truncation == "18") options.level = 3;
    options.slack_bits = static_cast<int>(params.integer("slack"));
    if (options.chunk_levels) options.slack_bits += kFeedbackSlackBits;
    options.rebuild_rounds = static_cast<std::uint64_t>(params.integer("rebuild"));
    options.code_bits_max = static_cast<unsigned>(params.integer("max_length"));
    return options;
  }
};

constexpr std::size_t chunks_of(std::size_t values) {
  return (values + kChunkValues - 1) / kChunkValues;
}

std::size_t chunk_values(std::size_t index, std::size_t values) {
  return std::min(kChunkValues, values - index * kChunkValues);
}

Status wrong_view(std::string what, std::string expected, std::string got) {
  return Status(StatusCode::invalid_argument,
                {.what = "optimizer view, " + std::move(what),
                 .expected = std::move(expected),
                 .got = std::move(got),
                 .remedy = "give the bucket's own part of the optimizer's state, or no view"});
}

Status check_view(const OptimizerView& view, std::size_t values) {
  if (view.parameters.size() != values) {
    return wrong_view("parameters", fmt::format("{}", values),
                      fmt::format("{}", view.parameters.size()));
  }
  for (const std::span<const float> moment : {view.first_moment, view.second_moment}) {
    if (moment.empty() || moment.size() == values) continue;
    return wrong_view("moment", fmt::format("{} values or none", values),
                      fmt::format("{}", moment.size()));
  }
  if (view.step == 0) return wrong_view("step", "1 or more", "0");
  return {};
}

// The rule that chooses levels in the whole bucket. A moment that does not exist yet counts as
// zero.
LevelRule rule_of(const Options& options, const StageCall& call) {
  if (!options.by_metric || call.optimizer == nullptr) return {.level = options.level};
  const OptimizerView& view = *call.optimizer;
  LevelRule rule;
  rule.metric = metric_coefficients(view, call.contributors);
  rule.kind = rule.metric.adaptive ? LevelRule::Kind::adaptive : LevelRule::Kind::linear;
  // A smaller contribution of the gradient gives a larger δ. The power of two is exact.
  rule.metric.rate = std::ldexp(rule.metric.rate, -options.slack_bits);
  // The pointers must be valid even for moments with a factor of zero, because the kernels read
  // them anyway.
  rule.parameters = rule.first = rule.second = view.parameters.data();
  if (view.first_moment.empty()) {
    rule.metric.moment = 0;
  } else {
    rule.first = view.first_moment.data();
  }
  if (view.second_moment.empty()) {
    rule.metric.keep = 0;
  } else {
    rule.second = view.second_moment.data();
  }
  return rule;
}

// Counts the exponents in an evenly spaced sample of the bucket's chunks.
Histogram histogram_of(std::span<const float> values) {
  Histogram histogram = {};
  const std::size_t chunks = chunks_of(values.size());
  const std::size_t stride = (chunks + kHistogramChunksMax - 1) / kHistogramChunksMax;
  std::array<std::array<std::uint32_t, kExponents>, 4> parts = {};  // fewer store stalls
  for (std::size_t chunk = 0; chunk < chunks; chunk += stride) {
    const float* const x = values.data() + chunk * kChunkValues;
    for (std::size_t i = 0; i < chunk_values(chunk, values.size()); ++i) {
      ++parts[i % 4][exponent_of(std::bit_cast<std::uint32_t>(x[i]))];
    }
  }
  for (const auto& part : parts) {
    for (std::size_t e = 0; e < kExponents; ++e) histogram[e] += part[e];
  }
  return histogram;
}

// The codebook of an encoder. It is replaced after a number of rounds, or earlier if it does not
// fit. The histogram is counted in one round and the new codebook is used from the next round on.
class Codebooks {
 public:
  explicit Codebooks(const Options& options) : options_(options) {}

  // The use of a round's histogram.
  enum class Need : std::uint8_t { nothing, histogram, book };

  Need need(std::uint64_t round) {
    rebuild();
    if (!book_) return Need::book;
    return is_due(round) ? Need::histogram : Need::nothing;
  }
  const Codebook& for_round(std::uint64_t round, std::span<const float> values) {
    const Need what = need(round);
    if (what != Need::nothing) note_histogram(histogram_of(values), round);
    if (what == Need::book) rebuild();
    return *book_;
  }
  // Null before the first one.
  const Codebook* current() const { return book_ ? &*book_ : nullptr; }

  // The next rebuild() takes the histogram.
  void note_histogram(const Histogram& histogram, std::uint64_t round) {
    histogram_ = histogram;
    built_in_ = round;
    outdated_ = false;
  }
  // The first codebook, if a device has made it.
  void start_with(const Codebook& book, std::uint64_t round) {
    book_ = book;
    built_in_ = round;
  }
  void rebuild() {
    if (!histogram_) return;
    const std::uint32_t version = book_ ? book_->version + 1 : 0;
    book_ = make_codebook(*histogram_, options_.code_bits_max, version);
    histogram_.reset();
  }
  void note_misfit() { outdated_ = true; }

 private:
  // A codebook that does not fit is replaced early, but not in every round, because some data fits
  // no codebook.
  bool is_due(std::uint64_t round) const {
    if (round < built_in_) return true;
    const std::uint64_t age = round - built_in_;
    return age >= options_.rebuild_rounds || (outdated_ && age >= kMisfitRounds);
  }
  static constexpr std::uint64_t kMisfitRounds = 5;

  const Options options_;
  std::optional<Codebook> book_;
  std::optional<Histogram> histogram_;  // of the last encoded round, for the next codebook
  std::uint64_t built_in_ = 0;
  bool outdated_ = false;
};

class GCompEncoder final : public Encoder {
 public:
  GCompEncoder(const Codec& codec, const Options& options)
      : codec_(codec), options_(options), books_(options) {}

  // Both backends decide on codebooks by the same data, so their payloads stay equal over rounds.
  Status encode(const StageCall& call, std::span<const float> values, Bytes& payload) override {
    if (options_.by_metric && call.optimizer != nullptr) {
      TRIBUTARY_TRY(check_view(*call.optimizer, values.size()));
    }
    const std::size_t chunks = chunks_of(values.size());
    const bool coded = values.size() >= kCodedValuesMin;
    const std::size_t head = coded ? kCodebookBytes : 0;
    const std::size_t table = head + chunks * sizeof(std::uint32_t);
    const MutableByteSpan body =
        start_payload({.spec = codec_.spec(),
                       .layout = coded ? kCodedLayout : kRawLayout,
                       .contributors = call.contributors,
                       .values = static_cast<std::uint32_t>(values.size())},
                      table + chunks * chunk_bytes_max(kChunkValues), payload);
    const LevelRule rule = rule_of(options_, call);
    Written written;
    const bool done = encoded_on_device(call, &CodecDevice::gcomp, [&](DeviceLoops& device) {
      return encode_on_device(device, call, rule, values, body, written);
    });
    if (!done) {
      const Codebook* const book = coded ? &books_.for_round(call.round.round, values) : nullptr;
      if (book != nullptr) write_codebook(*book, body);
      const Work work = {.call = call,
                         .loops = kernels(call.execution.backend),
                         .book = book,
                         .rule = rule,
                         .values = values,
                         .sizes = body.subspan(head)};
      written = write_chunks(work, body.subspan(table));
    }
    if (coded && (written.misfit || written.escapes > values.size() / kValuesPerEscapeMin)) {
      books_.note_misfit();
    }
    shrink_body(table + written.bytes, payload);
    seal_payload(call.execution, payload);
    if (call.facts != nullptr) call.facts->mantissa_bits_dropped += written.bits_dropped;
    return {};
  }

  void settle(std::span<const ByteSpan>, bool) override { books_.rebuild(); }

 private:
  struct Work {
    const StageCall& call;
    const Kernels& loops;
    const Codebook* book;
    const LevelRule rule;
    std::span<const float> values;
    MutableByteSpan sizes;
  };

  struct Written {
    std::size_t bytes = 0;
    std::size_t escapes = 0;
    bool misfit = false;
    std::uint64_t bits_dropped = 0;

    void add(const ChunkStatistics& chunk) {
      bytes += chunk.bytes;
      escapes += chunk.escapes;
      misfit |= chunk.misfit;
      bits_dropped += chunk.bits_dropped;
    }
  };

  ChunkStatistics write_chunk(const Work& work, std::size_t index, std::uint8_t* out) const {
    const std::size_t begin = index * kChunkValues;
    const std::span<const float> part =
        work.values.subspan(begin, chunk_values(index, work.values.size()));
    LevelRule rule = rule_at(work.rule, begin);
    if (options_.chunk_levels) rule = rule_of_chunk(work.loops, rule, options_.level, part);
    const ChunkStatistics chunk =
        encode_chunk(work.loops, work.book, rule, options_.exact, part, out);
    const auto size = static_cast<std::uint32_t>(chunk.bytes);
    std::memcpy(work.sizes.data() + index * sizeof(size), &size, sizeof(size));
    return chunk;
  }

  // Writes the whole body. The codebooks change only if the device succeeds.
  Status encode_on_device(DeviceLoops& device, const StageCall& call, const LevelRule& rule,
                          std::span<const float> values, MutableByteSpan body, Written& written) {
    using Need = Codebooks::Need;
    const bool coded = values.size() >= kCodedValuesMin;
    const std::uint64_t round = call.round.round;
    const Need need = coded ? books_.need(round) : Need::nothing;
    const Codebook* const book = coded ? books_.current() : nullptr;
    const std::size_t head = coded ? kCodebookBytes : 0;
    TRIBUTARY_ASSIGN(const DeviceEncoded made,
                     device.encode({.values = values,
                                    .rule = rule,
                                    .chunk_levels = options_.chunk_levels,
                                    .level = options_.level,
                                    .exact = options_.exact,
                                    .coded = coded,
                                    .book = book,
                                    .count = need == Need::histogram,
                                    .code_bits_max = options_.code_bits_max},
                                   body.subspan(head)));
    if (book != nullptr) write_codebook(*book, body);
    if (need == Need::histogram) books_.note_histogram(made.histogram, round);
    if (need == Need::book) {
      TRIBUTARY_ASSIGN(const Codebook first, read_codebook(made.book, options_.code_bits_max));
      write_codebook(first, body);
      books_.start_with(first, round);
    }
    written.bytes = made.bytes - chunks_of(values.size()) * sizeof(std::uint32_t);
    written.escapes = made.escapes;
    written.misfit = made.misfit;
    written.bits_dropped = made.bits_dropped;
    return {};
  }

  // Writes all chunks.
  Written write_chunks(const Work& work, MutableByteSpan out) {
    const std::size_t chunks = chunks_of(work.values.size());
    ThreadPool* const pool = work.call.execution.pool;
    // On one thread, each chunk is written directly at its final position.
    Written written;
    if (pool == nullptr || pool->threads() < 2 || chunks < 2) {
      for (std::size_t i = 0; i < chunks; ++i) {
        written.add(write_chunk(work, i, out.data() + written.bytes));
      }
    } else {
      written = write_chunks_on_threads(work, *pool, chunks, out);
    }
    return written;
  }

  // Each chunk is written where it would be if those before it had their greatest length, and then
  // moved down. The thread that has the next chunk moves all that are there, so no thread waits for
  // another, which may not be running. A chunk is never moved over one that has not been moved.
  Written write_chunks_on_threads(const Work& work, ThreadPool& pool, std::size_t chunks,
                                  MutableByteSpan out) {
    constexpr std::size_t kBytesMax = chunk_bytes_max(kChunkValues);
    Written written;
    std::size_t moved = 0;
    bool moving = false;
    std::mutex mutex;  // guards all of these and made_
    made_.assign(chunks, std::nullopt);
    pool.parallel_for(chunks, [&](std::size_t index) {
      const ChunkStatistics made = write_chunk(work, index, out.data() + index * kBytesMax);
      std::unique_lock lock(mutex);
      made_[index] = made;
      if (std::exchange(moving, true)) return;
      while (moved < chunks && made_[moved]) {
        const std::uint8_t* const from = out.data() + moved * kBytesMax;
        std::uint8_t* const to = out.data() + written.bytes;
        const ChunkStatistics chunk = *made_[moved++];
        written.add(chunk);
        lock.unlock();
        std::memmove(to, from, chunk.bytes);
        lock.lock();
      }
      moving = false;
    });
    return written;
  }

  const Codec& codec_;
  const Options options_;
  Codebooks books_;
  std::vector<std::optional<ChunkStatistics>> made_;  // by chunk; used by write_chunks_on_threads()
};

class GCompCodec final : public Codec {
 public:
  explicit GCompCodec(const Params& params)
      : spec_(params.canonical("gcomp")), options_(Options::from(params)) {}

  const std::string& spec() const override { return spec_; }
  std::span<const Stage> stages() const override { return kStages; }
  Aggregation aggregation() const override { return Aggregation::reduce; }
  bool lossy() const override { return !options_.exact; }
  bool carries_not_finite() const override { return true; }
  bool reads_optimizer() const override { return options_.by_metric; }

  std::unique_ptr<Encoder> make_encoder(std::uint32_t) const override {
    return std::make_unique<GCompEncoder>(*this, options_);
  }
  std::unique_ptr<Aggregator> make_aggregator(std::size_t, std::uint32_t values) const override {
    return make_decoding_aggregator(*this, values);
  }

  // The body is decoded before its checksum is verified, so that each byte is loaded only once. A
  // wrong checksum takes precedence over a fault in the body.
  Status decode(const StageCall& call, ByteSpan payload, std::span<float> sum) const override {
    TRIBUTARY_ASSIGN(UncheckedPayload unchecked,
                     UncheckedPayload::open(*this, 0, sum.size(), call.execution, payload));
    Status decoded = decode_body(call, unchecked, sum);
    TRIBUTARY_TRY(unchecked.check(call.execution));
    return decoded;
  }

 private:
  Status decode_body(const StageCall& call, UncheckedPayload& payload, std::span<float> sum) const {
    const bool coded = payload.header().layout == kCodedLayout;
    if (!coded && payload.header().layout != kRawLayout) {
      return corrupt("layout", "0 or 1", fmt::format("{}", payload.header().layout));
    }
    Codebook book;
    std::size_t head = 0;
    if (coded) {
      TRIBUTARY_ASSIGN(book, read_codebook(payload.body(), options_.code_bits_max));
      head = kCodebookBytes;
    }
    TRIBUTARY_ASSIGN(const std::vector<std::size_t> begins,
                     read_table(payload.body(), head, sum.size()));
    const std::uint32_t contributors = payload.header().contributors;
    const float limit = addend_max(call, contributors);
    // The host decodes what the device finds a fault in, and names the fault.
    DeviceDecoded decoded;
    const bool done = done_on_device(call, &CodecDevice::gcomp, [&](DeviceLoops& device) -> Status {
      TRIBUTARY_ASSIGN(decoded,
                       device.decode(payload.body(), begins, coded ? &book : nullptr, sum));
      return {};
    });
    if (done && decoded.sound) {
      if (!call.finite_only || decoded.largest <= std::bit_cast<std::uint32_t>(limit)) return {};
      return beyond_addend_error(spec_ + " payload", call, contributors);
    }
    const Kernels& loops = kernels(call.execution.backend);
    std::vector<const char*> faults(chunks_of(sum.size()));
    std::atomic<bool> addable = true;
    for_each_chunk(call.execution, sum.size(), kChunkValues,
                   [&](std::size_t index, std::size_t begin, std::size_t end) {
                     const ByteSpan rest = payload.body().subspan(begins[index]);
                     payload.hash(begins[index], begins[index + 1]);
                     faults[index] = decode_chunk(loops, coded ? &book : nullptr,
                                                  rest.first(begins[index + 1] - begins[index]),
                                                  rest.size(), sum.subspan(begin, end - begin));
                     // The chunk is still in the cache.
                     if (call.finite_only && faults[index] == nullptr &&
                         !within_magnitude(sum.subspan(begin, end - begin), limit)) {
                       addable = false;
                     }
                   });
    const auto fault = std::ranges::find_if(faults, [](const char* f) { return f != nullptr; });
    if (fault == faults.end() && addable) return {};
    if (fault == faults.end()) {
      return beyond_addend_error(spec_ + " payload", call, contributors);
    }
    return corrupt(fmt::format("chunk {}", fault - faults.begin()), *fault, "something else");
  }

  Status corrupt(std::string place, std::string expected, std::string got) const {
    return Status(StatusCode::corrupt_data, {.what = spec_ + " payload, " + std::move(place),
                                             .expected = std::move(expected),
                                             .got = std::move(got),
                                             .remedy = "have the bucket sent again"});
  }

  // Returns the offset of every chunk in the body, and the end of the last one. The table begins at
  // `head`.
  Result<std::vector<std::size_t>> read_table(ByteSpan body, std::size_t head,
                                              std::size_t values) const {
    const std::size_t chunks = chunks_of(values);
    const std::size_t first = head + chunks * sizeof(std::uint32_t);
    if (body.size() < first) {
      return corrupt("table of chunks", fmt::format("{} bytes", first),
                     fmt::format("{}", body.size()));
    }
    std::vector<std::size_t> begins = {first};
    for (std::size_t i = 0; i < chunks; ++i) {
      std::uint32_t size;
      std::memcpy(&size, body.data() + head + i * sizeof(size), sizeof(size));
      if (size > body.size() - begins.back() || size % 4 != 0) {
        return corrupt(fmt::format("size of chunk {}", i), "what is there, a multiple of 4 bytes",
                       fmt::format("{}", size));
      }
      begins.push_back(begins.back() + size);
    }
    if (begins.back() != body.size()) {
      return corrupt("chunks", fmt::format("{} bytes", body.size()),
                     fmt::format("{}", begins.back()));
    }
    return begins;
  }

  const std::string spec_;
  const Options options_;
};

}  // namespace

Result<std::unique_ptr<Codec>> make_gcomp(const Params& params) {
  return std::unique_ptr<Codec>(std::make_unique<GCompCodec>(params));
}

}  // namespace tributary::gcomp
