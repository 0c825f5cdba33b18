#include "core/codec/threelc/ternary.h"

#include <fmt/format.h>

#include <array>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstring>

#include "core/codec/aggregate/aggregate.h"
#include "core/codec/chunks.h"
#include "core/codec/device/codec_device.h"
#include "core/codec/error_feedback.h"
#include "core/codec/finite.h"
#include "core/codec/payload.h"
#include "core/codec/threelc/elements.h"

namespace tributary::threelc {
namespace {

constexpr Stage kStages[] = {{"digits", Combine::gather}};

Status corrupt(std::string what, std::string expected, std::string got) {
  return Status(StatusCode::corrupt_data, {.what = std::move(what),
                                           .expected = std::move(expected),
                                           .got = std::move(got),
                                           .remedy = "have the bucket sent again"});
}

// A body after all checks. Its pointers and spans point into the payload.
struct CheckedBody {
  ByteSpan bytes;
  Layout layout;
  const float* plain;
  const float* units;
  std::vector<ByteSpan> chunks;
};

class TernaryCodec final : public Codec {
 public:
  TernaryCodec(std::string spec, const TernaryOptions& options)
      : spec_(std::move(spec)), options_(options) {}

  const std::string& spec() const override { return spec_; }
  std::span<const Stage> stages() const override { return kStages; }
  Aggregation aggregation() const override { return Aggregation::gather; }
  bool lossy() const override { return true; }
  // Random digits lose more than they keep, so error feedback would not converge.
  bool contracts() const override { return !options_.random_digits; }
  // With blocks, the values that share an M do not depend on the layer.
  bool whole_layers() const override { return options_.block == 0; }

  std::unique_ptr<Encoder> make_encoder(std::uint32_t) const override {
    return make_ternary_encoder(*this, options_);
  }
  std::unique_ptr<Aggregator> make_aggregator(std::size_t, std::uint32_t values) const override {
    return make_decoding_aggregator(*this, values);
  }

  Status decode(const StageCall& call, ByteSpan payload, std::span<float> sum) const override {
    TRIBUTARY_ASSIGN(const CheckedBody body, check(call, payload, sum.size()));
    if (decode_on_device(call, body, false, sum)) return {};
    const float* plain = body.plain;
    for (const Part& part : body.layout.plain) {
      std::memcpy(sum.data() + part.offset, plain, part.count * sizeof(float));
      plain += part.count;
    }
    unpack(call.execution, body, options_.packing(kernels(call.execution.backend)).unpack, sum);
    return {};
  }

  // The whole body is checked before the first addition, so a refused payload leaves `sum`
  // unchanged.
  Status decode_add(const StageCall& call, ByteSpan payload, std::span<float>,
                    std::span<float> sum) const override {
    TRIBUTARY_ASSIGN(const CheckedBody body, check(call, payload, sum.size()));
    if (decode_on_device(call, body, true, sum)) return {};
    const float* plain = body.plain;
    for (const Part& part : body.layout.plain) {
      add_values({plain, part.count}, sum.subspan(part.offset, part.count));
      plain += part.count;
    }
    unpack(call.execution, body, options_.packing(kernels(call.execution.backend)).unpack_add, sum);
    return {};
  }

 private:
  using Unpack = decltype(PackingKernels::unpack);

  // Returns false if the host must decode; `sum` is unchanged then.
  bool decode_on_device(const StageCall& call, const CheckedBody& body, bool add,
                        std::span<float> sum) const {
    return done_on_device(call, &CodecDevice::threelc, [&](DeviceLoops& device) {
      return device.decode(options_, body.layout, body.bytes, add, sum);
    });
  }

  void unpack(const Execution& execution, const CheckedBody& body, Unpack unpack_range,
              std::span<float> sum) const {
    for_each_chunk(execution, body.chunks.size(), 1, [&](std::size_t i, std::size_t, std::size_t) {
      const Chunk& chunk = body.layout.chunks[i];
      const float unit = body.units[chunk.part];
      float* const out = sum.data() + body.layout.packed[chunk.part].offset;
      if (!options_.zero_run) {
        unpack_range(body.chunks[i].data(), chunk.range, unit, out);
        return;
      }
      // A chunk's runs are expanded on the stack and then unpacked while they are in the cache.
      std::array<std::uint8_t, kChunkBytes + kDecodeSlackBytes> packed;
      kernels(execution.backend)
          .zero_run_decode(body.chunks[i].data(), body.chunks[i].size(), packed.data());
      unpack_range(packed.data(), chunk.range, unit, out);
    });
  }

  // Checks the sizes first, then the numbers, then the chunks, because each step relies on the one
  // before.
  Result<CheckedBody> check(const StageCall& call, ByteSpan payload, std::size_t values) const {
    TRIBUTARY_ASSIGN(const OpenPayload open,
                     open_payload_of(*this, 0, values, call.execution, payload));
    TRIBUTARY_ASSIGN(Layout layout, Layout::make(call.round, values, options_.layout()));
    const ByteSpan body = open.body;
    if (body.size() < layout.chunks_at()) {
      return corrupt(spec_ + " payload",
                     fmt::format("{} bytes or more before the first chunk", layout.chunks_at()),
                     fmt::format("{}", body.size()));
    }
    CheckedBody checked;
    checked.bytes = body;
    checked.layout = std::move(layout);
    checked.plain = reinterpret_cast<const float*>(body.data());
    checked.units = reinterpret_cast<const float*>(body.data() + checked.layout.units_at());
    TRIBUTARY_TRY(check_numbers(call, open.header.contributors, checked));
    TRIBUTARY_TRY(cut(body, checked));
    TRIBUTARY_TRY(check_chunks(call.execution, checked));
    return checked;
  }

  Status check_numbers(const StageCall& call, std::uint32_t contributors,
                       const CheckedBody& body) const {
    const float limit = addend_max(call, contributors);
    if (!within_magnitude({body.plain, body.layout.plain_values}, limit)) {
      return beyond_addend_error(spec_ + " payload", call, contributors);
    }
    for (std::size_t i = 0; i < body.layout.packed.size(); ++i) {
      if (body.units[i] <= limit && !std::signbit(body.units[i])) continue;
      return beyond_addend_error(
          fmt::format("{} payload, M of packed layer {}, which is not negative", spec_, i), call,
          contributors);
    }
    return {};
  }

  // Finds the bytes of every chunk. Together they must use the rest of the body.
  Status cut(ByteSpan body, CheckedBody& checked) const {
    const Layout& layout = checked.layout;
    const std::uint8_t* const lengths = body.data() + layout.lengths_at();
    ByteSpan rest = body.subspan(layout.chunks_at());
    checked.chunks.reserve(layout.chunks.size());
    for (std::size_t i = 0; i < layout.chunks.size(); ++i) {
      std::size_t length = layout.chunks[i].bytes();
      if (options_.zero_run) {
        std::uint16_t coded;
        std::memcpy(&coded, lengths + i * sizeof(coded), sizeof(coded));
        length = coded;
      }
      if (length > rest.size()) {
        return corrupt(fmt::format("{} payload, chunk {}", spec_, i),
                       fmt::format("{} bytes", length), fmt::format("{}", rest.size()));
      }
      checked.chunks.push_back(rest.first(length));
      rest = rest.subspan(length);
    }
    if (rest.empty()) return {};
    return corrupt(spec_ + " payload", "an end behind the last chunk",
                   fmt::format("{} bytes more", rest.size()));
  }

  // Checks that every chunk represents the right number of packed bytes, and that these are digits.
  Status check_chunks(const Execution& execution, const CheckedBody& body) const {
    const Kernels& loops = kernels(execution.backend);
    std::atomic<std::size_t> bad = body.chunks.size();
    for_each_chunk(execution, body.chunks.size(), 1, [&](std::size_t i, std::size_t, std::size_t) {
      const ByteSpan coded = body.chunks[i];
      const bool sound = options_.two_bit
                             ? loops.two_bit_valid(coded.data(), coded.size())
                             : loops.zero_run_decoded_bytes(coded.data(), coded.size()) ==
                                   body.layout.chunks[i].bytes();
      // Several threads may find a fault; any of them is a valid report.
      if (!sound) bad = i;
    });
    if (bad == body.chunks.size()) return {};
    return corrupt(fmt::format("{} payload, chunk {}", spec_, bad.load()),
                   "as many digits of -1, 0 and 1 as the layer has", "something else");
  }

  const std::string spec_;
  const TernaryOptions options_;
};

}  // namespace

std::unique_ptr<Codec> make_ternary_codec(std::string spec, const TernaryOptions& options) {
  return std::make_unique<TernaryCodec>(std::move(spec), options);
}

}  // namespace tributary::threelc
