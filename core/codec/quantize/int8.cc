// The codec int8: every block of values is scaled by its own largest magnitude.
//
//   body: scale of every block, f32; then one signed byte per value
#include <atomic>
#include <cmath>

#include "core/codec/aggregate/aggregate.h"
#include "core/codec/finite.h"
#include "core/codec/payload.h"
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
    const Kernels& loops = kernels(call.execution.backend);
    const LevelWriter writer(call, options_);
    std::atomic<bool> finite = true;
    for_each_block(call.execution, options_, values.size(),
                   [&](std::size_t block, std::size_t begin, std::size_t end) {
                     const std::uint32_t largest =
                         loops.largest_magnitude(values.data() + begin, end - begin);
                     // A scale that is not finite makes the whole bucket fail below; the levels
                     // written here are discarded.
                     if (largest >= kInfinityBits) finite = false;
                     scales[block] = std::bit_cast<float>(largest);
                     writer.write(values, begin, end, block_scale(scales[block]), levels);
                   });
    if (!finite) return not_finite_error(values);
    seal_payload(call.execution, payload);
    return {};
  }

 private:
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
    const Kernels& loops = kernels(call.execution.backend);
    const float limit = addend_max(call, open.header.contributors);
    std::atomic<bool> sound = true;
    for_each_block(call.execution, options_, sum.size(),
                   [&](std::size_t block, std::size_t begin, std::size_t end) {
                     // A larger step than an encoder writes cannot overflow: block_scale() limits
                     // the scale.
                     if (!(scales[block] >= 0 && scales[block] <= limit)) sound = false;
                     loops.from_levels8(levels + begin, end - begin,
                                        block_scale(scales[block]).step, sum.data() + begin);
                   });
    if (sound) return {};
    return beyond_addend_error("scales of the " + spec_ + " payload, none of them negative", call,
                               open.header.contributors);
  }

 private:
  const std::string spec_;
  const Int8Options options_;
};

}  // namespace

Result<std::unique_ptr<Codec>> make_int8(const Params& params) {
  return std::unique_ptr<Codec>(std::make_unique<Int8Codec>(params));
}

}  // namespace tributary::quantize
