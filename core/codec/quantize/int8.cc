// The codec int8: every block of values is scaled by its own largest magnitude.
//
//   body: scale of every block, f32; then one signed byte per value
#include <algorithm>
#include <atomic>
#include <cmath>

#include "core/codec/aggregate/aggregate.h"
#include "core/codec/device/codec_device.h"
#include "core/codec/finite.h"
#include "core/codec/payload.h"
#include "core/codec/quantize/device_loops.h"
#include "core/codec/quantize/families.h"
#include "core/codec/quantize/int8_blocks.h"

namespace tributary::quantize {
namespace {

constexpr Stage kInt8Stages[] = {{"levels", Combine::gather}};

class Int8Encoder final : public Encoder {
 public:
  Int8Encoder(const Codec& codec, const Int8Options& options) : codec_(codec), options_(options) {}

  Status encode(const StageCall& call, std::span<const float> values, Bytes& payload) override {
    const std::size_t scale_bytes = options_.blocks(values.size()) * sizeof(float);
    const MutableByteSpan body =
        start_payload({.spec = codec_.spec(),
                       .contributors = call.contributors,
                       .values = static_cast<std::uint32_t>(values.size())},
                      scale_bytes + values.size(), payload);
    auto* const scales = reinterpret_cast<float*>(body.data());
    auto* const levels = reinterpret_cast<std::int8_t*>(body.data() + scale_bytes);
    const LevelWriter writer(call, options_);
    const bool done = encoded_on_device(call, &CodecDevice::quantize, [&](DeviceLoops& device) {
      return device.encode_scales_and_levels(writer.format(), values, scales, levels);
    });
    // A scale that is not finite makes the whole bucket fail; its levels are discarded.
    const bool finite = done ? all_finite({scales, options_.blocks(values.size())})
                             : encode_on_host(call, writer, values, scales, levels);
    if (!finite) return not_finite_error(call, values);
    seal_payload(call.execution, payload);
    return {};
  }

 private:
  // Returns false if a value is NaN or Inf.
  bool encode_on_host(const StageCall& call, const LevelWriter& writer,
                      std::span<const float> values, float* scales, std::int8_t* levels) const {
    const Kernels& loops = kernels(call.execution.backend);
    std::atomic<bool> finite = true;
    for_each_block(call.execution, options_, values.size(),
                   [&](std::size_t block, std::size_t begin, std::size_t end) {
                     const std::uint32_t largest =
                         loops.largest_magnitude(values.data() + begin, end - begin);
                     if (largest >= kInfinityBits) finite = false;
                     scales[block] = std::bit_cast<float>(largest);
                     writer.write(values, begin, end, block_scale(scales[block]), levels);
                   });
    return finite;
  }

  const Codec& codec_;
  const Int8Options options_;
};

class Int8Codec final : public Codec {
 public:
  explicit Int8Codec(const Params& params)
      : spec_(params.canonical("int8")), options_(Int8Options::from(params)) {}

  const std::string& spec() const override { return spec_; }
  std::span<const Stage> stages() const override { return kInt8Stages; }
  Aggregation aggregation() const override { return Aggregation::reduce; }
  bool lossy() const override { return true; }

  std::unique_ptr<Encoder> make_encoder(std::uint32_t) const override {
    return std::make_unique<Int8Encoder>(*this, options_);
  }
  std::unique_ptr<Aggregator> make_aggregator(std::size_t, std::uint32_t values) const override {
    return make_decoding_aggregator(*this, values);
  }

  Status decode(const StageCall& call, ByteSpan payload, std::span<float> sum) const override {
    TRIBUTARY_ASSIGN(const OpenPayload open,
                     open_payload_of(*this, 0, sum.size(), call.execution, payload));
    const std::size_t scale_bytes = options_.blocks(sum.size()) * sizeof(float);
    if (open.body.size() != scale_bytes + sum.size()) {
      return wrong_body_size(spec_, scale_bytes + sum.size(), open.body.size());
    }
    const auto* const scales = reinterpret_cast<const float*>(open.body.data());
    const auto* const levels = reinterpret_cast<const std::int8_t*>(open.body.data() + scale_bytes);
    // A larger step than an encoder writes cannot overflow: block_scale() limits the scale.
    const float limit = addend_max(call, open.header.contributors);
    const bool sound =
        std::ranges::all_of(std::span(scales, options_.blocks(sum.size())),
                            [limit](float scale) { return scale >= 0 && scale <= limit; });
    if (sound) {
      decode_levels(call, scales, levels, sum);
      return {};
    }
    return beyond_addend_error("scales of the " + spec_ + " payload, none of them negative", call,
                               open.header.contributors);
  }

 private:
  void decode_levels(const StageCall& call, const float* scales, const std::int8_t* levels,
                     std::span<float> sum) const {
    const bool done = done_on_device(call, &CodecDevice::quantize, [&](DeviceLoops& device) {
      return device.decode_levels8({.block = options_.block}, {levels, sum.size()}, scales,
                                   sum.data());
    });
    if (done) return;
    const Kernels& loops = kernels(call.execution.backend);
    for_each_block(call.execution, options_, sum.size(),
                   [&](std::size_t block, std::size_t begin, std::size_t end) {
                     loops.from_levels8(levels + begin, end - begin,
                                        block_scale(scales[block]).step, sum.data() + begin);
                   });
  }

  const std::string spec_;
  const Int8Options options_;
};

}  // namespace

Result<std::unique_ptr<Codec>> make_int8(const Params& params) {
  return std::unique_ptr<Codec>(std::make_unique<Int8Codec>(params));
}

}  // namespace tributary::quantize
