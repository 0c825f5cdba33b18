// The codec qsgd (Alistarh et al.): a sign and a magnitude of few bits per value, rounded at random
// so that the expected value is the value. The levels of a block are multiples of norm / s with s =
// 2^(bits-1) - 1. The norm is the block's Euclidean length or its largest magnitude.
//
//   body: norm of every block, f32; then the levels, `bits` bits each
#include <algorithm>
#include <array>
#include <atomic>

#include "core/codec/aggregate/aggregate.h"
#include "core/codec/device/codec_device.h"
#include "core/codec/finite.h"
#include "core/codec/payload.h"
#include "core/codec/quantize/device_loops.h"
#include "core/codec/quantize/families.h"
#include "core/codec/quantize/int8_blocks.h"
#include "core/codec/quantize/packed_levels.h"
#include "core/codec/simd/ordered_sum.h"

namespace tributary::quantize {
namespace {

constexpr Stage kQsgdStages[] = {{"levels", Combine::gather}};
constexpr std::size_t kStretch = 4096;  // levels on the stack at once; a multiple of 8

struct QsgdOptions {
  int bits;
  bool euclidean;
  Int8Options blocks;

  std::size_t norm_bytes(std::size_t values) const { return blocks.blocks(values) * sizeof(float); }
  std::size_t body_bytes(std::size_t values) const {
    return norm_bytes(values) + packed_bytes(values, bits);
  }
  // The same for a device.
  PackedFormat format(StreamKey key = {}) const {
    return {.block = blocks.block, .bits = bits, .euclidean = euclidean, .key = key};
  }
};

static_assert(kNormMax == 0x1p127f / kContributorsMax);

// Calls body(begin, end) for the stretches of [begin, end). Each starts at a whole packed byte.
template <typename Body>
void for_each_stretch(std::size_t begin, std::size_t end, const Body& body) {
  for (; begin < end; begin += kStretch) body(begin, std::min(begin + kStretch, end));
}

class QsgdEncoder final : public Encoder {
 public:
  QsgdEncoder(const Codec& codec, const QsgdOptions& options) : codec_(codec), options_(options) {}

  Status encode(const StageCall& call, std::span<const float> values, Bytes& payload) override {
    const MutableByteSpan body =
        start_payload({.spec = codec_.spec(),
                       .contributors = call.contributors,
                       .values = static_cast<std::uint32_t>(values.size())},
                      options_.body_bytes(values.size()), payload);
    auto* const norms = reinterpret_cast<float*>(body.data());
    std::uint8_t* const packed = body.data() + options_.norm_bytes(values.size());
    const StreamKey key = rounding_key(call);
    bool finite = true;
    const bool done = encoded_on_device(call, &CodecDevice::quantize, [&](DeviceLoops& device) {
      const Result<std::uint32_t> largest =
          device.encode_packed(options_.format(key), values, norms, packed);
      finite = largest.ok() && *largest < kInfinityBits;
      return largest.status();
    });
    if (!done) finite = encode_on_host(call.execution, values, key, norms, packed);
    if (!finite) return not_finite_error(call, values);
    seal_payload(call.execution, payload);
    return {};
  }

 private:
  // Returns false if a value is not finite.
  bool encode_on_host(const Execution& execution, std::span<const float> values, StreamKey key,
                      float* norms, std::uint8_t* packed) const {
    const Kernels& loops = kernels(execution.backend);
    std::atomic<bool> finite = true;
    for_each_block(execution, options_.blocks, values.size(),
                   [&](std::size_t block, std::size_t begin, std::size_t end) {
                     const std::uint32_t largest =
                         loops.largest_magnitude(values.data() + begin, end - begin);
                     if (largest >= kInfinityBits) {
                       finite = false;
                       return;
                     }
                     const auto x = values.subspan(begin, end - begin);
                     norms[block] = options_.euclidean ? euclidean_norm(ordered_dot(x, x))
                                                       : largest_norm(largest);
                     write_levels(loops, values, begin, end, norms[block], key, packed);
                   });
    return finite;
  }

  // An aggregate uses other draws than every agent's update. Otherwise the two roundings would not
  // be independent, and their sum would not be unbiased.
  static StreamKey rounding_key(const StageCall& call) {
    const std::uint32_t behind_agents = call.contributors > 1 ? call.round.agents : 0;
    return stream_key({.job_seed = call.round.job_seed,
                       .round = call.round.round,
                       .bucket = call.round.bucket,
                       .purpose = DrawPurpose::rounding,
                       .agent = call.round.agent + behind_agents});
  }

  // Packs the levels of values[begin, end), which lie in one block.
  void write_levels(const Kernels& loops, std::span<const float> values, std::size_t begin,
                    std::size_t end, float norm, StreamKey key, std::uint8_t* packed) const {
    const int most = level_max(options_.bits);
    const float levels_per_unit = norm_scale(norm, most).levels_per_unit;
    for_each_stretch(begin, end, [&](std::size_t from, std::size_t to) {
      std::array<std::int8_t, kStretch> buffer;
      const auto levels = std::span(buffer).first(to - from);
      loops.to_random_levels(values.data() + from, to - from, levels_per_unit, key,
                             static_cast<std::uint32_t>(from), levels.data());
      for (std::int8_t& level : levels) level = clamp_to(level, most);
      pack_levels(levels, options_.bits, packed + packed_bytes(from, options_.bits));
    });
  }

  const Codec& codec_;
  const QsgdOptions options_;
};

class QsgdCodec final : public Codec {
 public:
  explicit QsgdCodec(const Params& params)
      : spec_(params.canonical("qsgd")),
        options_({.bits = static_cast<int>(params.integer("bits")),
                  .euclidean = params.choice("norm") == "l2",
                  .blocks = {.block = static_cast<std::uint32_t>(params.integer("block"))}}) {}

  const std::string& spec() const override { return spec_; }
  std::span<const Stage> stages() const override { return kQsgdStages; }
  Aggregation aggregation() const override { return Aggregation::reduce; }
  bool lossy() const override { return true; }
  // With the Euclidean norm and few bits, the expected error of a block exceeds the block; the
  // paper's bound is √block / s times the block. Error feedback would let that error grow from
  // round to round.
  bool conserves() const override {
    const int levels = level_max(options_.bits);
    return !options_.euclidean ||
           static_cast<std::int64_t>(options_.blocks.block) < std::int64_t{levels} * levels;
  }

  std::unique_ptr<Encoder> make_encoder(std::uint32_t) const override {
    return std::make_unique<QsgdEncoder>(*this, options_);
  }
  std::unique_ptr<Aggregator> make_aggregator(std::size_t, std::uint32_t values) const override {
    return make_decoding_aggregator(*this, values);
  }

  Status decode(const StageCall& call, ByteSpan payload, std::span<float> sum) const override {
    TRIBUTARY_ASSIGN(const OpenPayload open,
                     open_payload_of(*this, 0, sum.size(), call.execution, payload));
    if (open.body.size() != options_.body_bytes(sum.size())) {
      return wrong_body_size(spec_, options_.body_bytes(sum.size()), open.body.size());
    }
    const auto* const norms = reinterpret_cast<const float*>(open.body.data());
    const std::uint8_t* const packed = open.body.data() + options_.norm_bytes(sum.size());
    const std::span all_norms(norms, options_.blocks.blocks(sum.size()));
    if (!std::ranges::all_of(all_norms, [](float x) { return x >= 0 && x <= kNormMax; })) {
      return not_addable_error(spec_ + " payload", "norms from 0 to 2^107",
                               "another, which no encoder writes");
    }
    if (!padding_is_zero(open.body, sum.size())) {
      return Status(StatusCode::corrupt_data, {.what = spec_ + " payload",
                                               .expected = "zero padding",
                                               .got = "something else, which no encoder writes",
                                               .remedy = "have the bucket sent again"});
    }
    const bool done = done_on_device(call, &CodecDevice::quantize, [&](DeviceLoops& device) {
      return device.decode_packed(options_.format(), norms, packed, sum);
    });
    if (done) return {};
    const Kernels& loops = kernels(call.execution.backend);
    for_each_block(call.execution, options_.blocks, sum.size(),
                   [&](std::size_t block, std::size_t begin, std::size_t end) {
                     read_levels(loops, packed, begin, end, norms[block], sum);
                   });
    return {};
  }

 private:
  // The unused bits of the last byte must be zero, as the encoder writes them.
  bool padding_is_zero(ByteSpan body, std::size_t values) const {
    const std::size_t used = values * static_cast<std::size_t>(options_.bits) % 8;
    return used == 0 || body.back() >> used == 0;
  }

  void read_levels(const Kernels& loops, const std::uint8_t* packed, std::size_t begin,
                   std::size_t end, float norm, std::span<float> sum) const {
    const float step = norm_scale(norm, level_max(options_.bits)).step;
    for_each_stretch(begin, end, [&](std::size_t from, std::size_t to) {
      std::array<std::int8_t, kStretch> buffer;
      const auto levels = std::span(buffer).first(to - from);
      unpack_levels(packed + packed_bytes(from, options_.bits), options_.bits, levels);
      loops.from_levels8(levels.data(), to - from, step, sum.data() + from);
    });
  }

  const std::string spec_;
  const QsgdOptions options_;
};

}  // namespace

Result<std::unique_ptr<Codec>> make_qsgd(const Params& params) {
  return std::unique_ptr<Codec>(std::make_unique<QsgdCodec>(params));
}

}  // namespace tributary::quantize
