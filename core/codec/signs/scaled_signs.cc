// The codecs EF-signSGD and OneBit: one bit per value, and per block the magnitudes that a positive
// and a negative value decode to. EF-signSGD uses the block's mean magnitude for both signs. OneBit
// uses the mean of each sign.
//
//   body: positive and negative magnitude of every block, f32 each; then the sign bits
#include <atomic>
#include <cmath>

#include "core/codec/aggregate/aggregate.h"
#include "core/codec/chunks.h"
#include "core/codec/device/codec_device.h"
#include "core/codec/finite.h"
#include "core/codec/payload.h"
#include "core/codec/signs/device_loops.h"
#include "core/codec/signs/families.h"
#include "core/codec/signs/sign_bits.h"
#include "core/codec/simd/ordered_sum.h"

namespace tributary::signs {
namespace {

constexpr Stage kScaledSignStages[] = {{"signs", Combine::gather}};

// Sums of magnitudes and counts, by sign. The sums are in double, so that they cannot overflow.
struct SignSums {
  double positive = 0;
  double negative = 0;
  std::size_t negatives = 0;
};

SignSums sums_of(std::span<const float> values) {
  SumLanes positive = {};
  SumLanes negative = {};
  SignSums sums;
  const auto add = [&](float value, std::size_t lane) {
    const auto magnitude = static_cast<double>(std::abs(value));
    const auto minus = static_cast<double>(sign_of(value));
    positive[lane] += magnitude * (1 - minus);  // a factor of 0 or 1 is exact and needs no branch
    negative[lane] += magnitude * minus;
  };
  const std::size_t whole = values.size() / kSumLanes * kSumLanes;
  for (std::size_t i = 0; i < whole; i += kSumLanes) {
    for (std::size_t lane = 0; lane < kSumLanes; ++lane) add(values[i + lane], lane);
  }
  for (std::size_t i = whole; i < values.size(); ++i) add(values[i], i - whole);
  for (const float value : values) sums.negatives += sign_of(value);
  sums.positive = add_in_pairs(positive);
  sums.negative = add_in_pairs(negative);
  return sums;
}

Worth worth_of(WorthRule rule, std::span<const float> values) {
  const SignSums sums = sums_of(values);
  return rule == WorthRule::mean_magnitude
             ? mean_magnitude(sums.positive, sums.negative, values.size())
             : means_by_sign(sums.positive, sums.negative, sums.negatives, values.size());
}

class ScaledSignsCodec final : public Codec {
 public:
  ScaledSignsCodec(std::string_view name, WorthRule rule, const Params& params)
      : spec_(params.canonical(name)),
        rule_(rule),
        block_(static_cast<std::size_t>(params.integer("block"))) {}

  const std::string& spec() const override { return spec_; }
  std::span<const Stage> stages() const override { return kScaledSignStages; }
  Aggregation aggregation() const override { return Aggregation::reduce; }
  bool lossy() const override { return true; }

  std::unique_ptr<Encoder> make_encoder(std::uint32_t values) const override;
  std::unique_ptr<Aggregator> make_aggregator(std::size_t, std::uint32_t values) const override {
    return make_decoding_aggregator(*this, values);
  }
  Status decode(const StageCall& call, ByteSpan payload, std::span<float> sum) const override;

  // Size of the magnitudes at the start of the body.
  std::size_t worth_bytes(std::size_t values) const {
    return (values + block_ - 1) / block_ * sizeof(Worth);
  }
  WorthRule rule() const { return rule_; }
  std::uint32_t block() const { return static_cast<std::uint32_t>(block_); }

  // Calls body(block, begin, end) for every block. Chunks may run in parallel; the block size
  // divides kChunkValues, so a chunk contains whole blocks and whole bytes of sign bits.
  template <typename Body>
  void for_each_block(const Execution& execution, std::size_t values, const Body& body) const {
    for_each_chunk(execution, values, kChunkValues,
                   [&](std::size_t, std::size_t begin, std::size_t end) {
                     for (std::size_t at = begin; at < end; at += block_) {
                       body(at / block_, at, std::min(at + block_, end));
                     }
                   });
  }

 private:
  const std::string spec_;
  const WorthRule rule_;
  const std::size_t block_;
};

class ScaledSignsEncoder final : public Encoder {
 public:
  explicit ScaledSignsEncoder(const ScaledSignsCodec& codec) : codec_(codec) {}

  Status encode(const StageCall& call, std::span<const float> values, Bytes& payload) override {
    const std::size_t worth_bytes = codec_.worth_bytes(values.size());
    const MutableByteSpan body =
        start_payload({.spec = codec_.spec(),
                       .contributors = call.contributors,
                       .values = static_cast<std::uint32_t>(values.size())},
                      worth_bytes + sign_bytes(values.size()), payload);
    auto* const worths = reinterpret_cast<Worth*>(body.data());
    std::uint8_t* const bits = body.data() + worth_bytes;
    bool finite = true;
    const bool done = encoded_on_device(call, &CodecDevice::signs, [&](DeviceLoops& device) {
      const Result<std::uint32_t> largest =
          device.encode_scaled_signs(codec_.rule(), codec_.block(), values, worths, bits);
      finite = largest.ok() && is_finite(*largest);
      return largest.status();
    });
    if (!done) finite = encode_on_host(call.execution, values, worths, bits);
    if (!finite) return not_finite_error(call, values);
    seal_payload(call.execution, payload);
    return {};
  }

 private:
  // Returns false if any value is NaN or Inf.
  bool encode_on_host(const Execution& execution, std::span<const float> values, Worth* worths,
                      std::uint8_t* bits) const {
    // Threads only ever set it to false, so the order of their writes does not matter.
    std::atomic<bool> finite = true;
    codec_.for_each_block(execution, values.size(),
                          [&](std::size_t block, std::size_t begin, std::size_t end) {
                            const auto part = values.subspan(begin, end - begin);
                            if (!pack_signs(part, bits + begin / 8)) finite = false;
                            worths[block] = worth_of(codec_.rule(), part);
                          });
    return finite;
  }

  const ScaledSignsCodec& codec_;
};

std::unique_ptr<Encoder> ScaledSignsCodec::make_encoder(std::uint32_t) const {
  return std::make_unique<ScaledSignsEncoder>(*this);
}

Status ScaledSignsCodec::decode(const StageCall& call, ByteSpan payload,
                                std::span<float> sum) const {
  TRIBUTARY_ASSIGN(const OpenPayload open,
                   open_payload_of(*this, 0, sum.size(), call.execution, payload));
  const std::size_t worths_end = worth_bytes(sum.size());
  if (open.body.size() != worths_end + sign_bytes(sum.size())) {
    return wrong_body_size(spec_, worths_end + sign_bytes(sum.size()), open.body.size());
  }
  const auto* const magnitudes = reinterpret_cast<const float*>(open.body.data());
  if (!within_magnitude({magnitudes, worths_end / sizeof(float)},
                        addend_max(call, open.header.contributors))) {
    return beyond_addend_error("magnitudes of the " + spec_ + " payload", call,
                               open.header.contributors);
  }
  if (!padding_is_zero(open.body, sum.size())) {
    return Status(StatusCode::corrupt_data, {.what = spec_ + " payload",
                                             .expected = "zero padding",
                                             .got = "something else, which no encoder writes",
                                             .remedy = "have the bucket sent again"});
  }
  const auto* const worths = reinterpret_cast<const Worth*>(open.body.data());
  const std::uint8_t* const bits = open.body.data() + worths_end;
  const bool done = done_on_device(call, &CodecDevice::signs, [&](DeviceLoops& device) {
    return device.decode_scaled_signs(block(), worths, bits, sum);
  });
  if (done) return {};
  for_each_block(call.execution, sum.size(),
                 [&](std::size_t block, std::size_t begin, std::size_t end) {
                   unpack_signs(bits + begin / 8, worths[block].positive, -worths[block].negative,
                                sum.subspan(begin, end - begin));
                 });
  return {};
}

}  // namespace

Result<std::unique_ptr<Codec>> make_ef_signsgd(const Params& params) {
  return std::unique_ptr<Codec>(
      std::make_unique<ScaledSignsCodec>("ef_signsgd", WorthRule::mean_magnitude, params));
}
Result<std::unique_ptr<Codec>> make_onebit(const Params& params) {
  return std::unique_ptr<Codec>(
      std::make_unique<ScaledSignsCodec>("onebit", WorthRule::means_by_sign, params));
}

}  // namespace tributary::signs
