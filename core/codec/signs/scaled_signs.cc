// The codecs EF-signSGD and OneBit: one bit per value, and per block the magnitudes that a positive
// and a negative value decode to. EF-signSGD uses the block's mean magnitude for both signs. OneBit
// uses the mean of each sign.
//
//   body: positive and negative magnitude of every block, f32 each; then the sign bits
#include <array>
#include <atomic>
#include <cmath>

#include "core/codec/aggregate/aggregate.h"
#include "core/codec/chunks.h"
#include "core/codec/finite.h"
#include "core/codec/payload.h"
#include "core/codec/signs/families.h"
#include "core/codec/signs/sign_bits.h"
#include "core/codec/simd/ordered_sum.h"

namespace tributary::signs {
namespace {

constexpr Stage kScaledSignStages[] = {{"signs", Combine::gather}};

// The decoded magnitudes of a block's positive and negative values. Neither has a sign bit.
struct Worth {
  float positive;
  float negative;
};

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

float mean(double sum, std::size_t count) {
  return count == 0 ? 0.0f : static_cast<float>(sum / static_cast<double>(count));
}

Worth mean_magnitude(std::span<const float> values) {
  const SignSums sums = sums_of(values);
  const float both = mean(sums.positive + sums.negative, values.size());
  return {both, both};
}

Worth means_by_sign(std::span<const float> values) {
  const SignSums sums = sums_of(values);
  return {mean(sums.positive, values.size() - sums.negatives), mean(sums.negative, sums.negatives)};
}

// Computes the magnitudes of a block.
using Rule = Worth (*)(std::span<const float> values);

class ScaledSignsCodec final : public Codec {
 public:
  ScaledSignsCodec(std::string_view name, Rule worth_of, const Params& params)
      : spec_(params.canonical(name)),
        rule_(worth_of),
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
  Rule rule() const { return rule_; }

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
  const Rule rule_;
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
    // Threads only ever set it to false, so the order of their writes does not matter.
    std::atomic<bool> finite = true;
    codec_.for_each_block(call.execution, values.size(),
                          [&](std::size_t block, std::size_t begin, std::size_t end) {
                            const auto part = values.subspan(begin, end - begin);
                            if (!pack_signs(part, bits + begin / 8)) finite = false;
                            worths[block] = codec_.rule()(part);
                          });
    if (!finite) return not_finite_error(values);
    seal_payload(call.execution, payload);
    return {};
  }

 private:
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
  const auto* const worths = reinterpret_cast<const Worth*>(open.body.data());
  const std::uint8_t* const bits = open.body.data() + worths_end;
  const float limit = addend_max(call, open.header.contributors);
  std::atomic<bool> finite = true;
  for_each_block(call.execution, sum.size(),
                 [&](std::size_t block, std::size_t begin, std::size_t end) {
                   const Worth& worth = worths[block];
                   if (!within_magnitude(std::array{worth.positive, worth.negative}, limit)) {
                     finite = false;
                   }
                   unpack_signs(bits + begin / 8, worth.positive, -worth.negative,
                                sum.subspan(begin, end - begin));
                 });
  if (!finite) {
    return beyond_addend_error("magnitudes of the " + spec_ + " payload", call,
                               open.header.contributors);
  }
  if (padding_is_zero(open.body, sum.size())) return {};
  return Status(StatusCode::corrupt_data, {.what = spec_ + " payload",
                                           .expected = "zero padding",
                                           .got = "something else, which no encoder writes",
                                           .remedy = "have the bucket sent again"});
}

}  // namespace

Result<std::unique_ptr<Codec>> make_ef_signsgd(const Params& params) {
  return std::unique_ptr<Codec>(
      std::make_unique<ScaledSignsCodec>("ef_signsgd", mean_magnitude, params));
}
Result<std::unique_ptr<Codec>> make_onebit(const Params& params) {
  return std::unique_ptr<Codec>(
      std::make_unique<ScaledSignsCodec>("onebit", means_by_sign, params));
}

}  // namespace tributary::signs
