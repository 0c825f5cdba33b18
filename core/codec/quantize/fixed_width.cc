// The codecs fp32, fp16 and bf16: one stage whose body is one number per value.
#include <atomic>
#include <bit>
#include <cstring>

#include "core/codec/aggregate/aggregate.h"
#include "core/codec/chunks.h"
#include "core/codec/device/codec_device.h"
#include "core/codec/finite.h"
#include "core/codec/payload.h"
#include "core/codec/quantize/device_loops.h"
#include "core/codec/quantize/elements.h"
#include "core/codec/quantize/families.h"
#include "core/codec/quantize/kernels.h"

namespace tributary::quantize {
namespace {

// float32 without any change of bits: NaN payloads and signed zeros are preserved.
struct Fp32 {
  static constexpr bool kOnDevice = false;
  using Word = float;
  static constexpr std::string_view kName = "fp32";
  static constexpr Stage kStages[] = {{"values", Combine::sum}};
  static constexpr Aggregation kAggregation = Aggregation::sum;
  static constexpr bool kLossy = false;
  // Above every pattern: all are valid.
  static std::uint32_t largest_word(float) { return ~0u; }

  // Returns 0 instead of the largest magnitude, because fp32 carries NaN and Inf.
  static std::uint32_t encode(const Kernels&, const float* x, std::size_t n, Word* out) {
    std::memcpy(out, x, n * sizeof(float));
    return 0;
  }
  static std::uint32_t decode(const Kernels&, const Word* in, std::size_t n, float* x) {
    std::memcpy(x, in, n * sizeof(float));
    return 0;
  }
};

// The common part of the 16-bit formats. A sum of payloads would round at every addition, so an
// aggregator decodes, adds in float32 and encodes once.
struct SixteenBit {
  static constexpr bool kOnDevice = true;
  using Word = std::uint16_t;
  static constexpr Stage kStages[] = {{"values", Combine::gather}};
  static constexpr Aggregation kAggregation = Aggregation::reduce;
  static constexpr bool kLossy = true;
};

struct Fp16 : SixteenBit {
  static constexpr std::string_view kName = "fp16";
  static constexpr SixteenBitFormat kFormat = SixteenBitFormat::half;
  // The largest word that decodes to at most `limit`. Every finite half is far below any limit.
  static std::uint32_t largest_word(float) { return 0x7bff; }

  static std::uint32_t encode(const Kernels& k, const float* x, std::size_t n, Word* out) {
    return k.to_half(x, n, out);
  }
  static std::uint32_t decode(const Kernels& k, const Word* in, std::size_t n, float* x) {
    return k.from_half(in, n, x);
  }
};

struct Bf16 : SixteenBit {
  static constexpr std::string_view kName = "bf16";
  static constexpr SixteenBitFormat kFormat = SixteenBitFormat::bfloat;
  // As in Fp16; a word is the upper half of a float32.
  static std::uint32_t largest_word(float limit) {
    return std::bit_cast<std::uint32_t>(limit) >> 16;
  }

  static std::uint32_t encode(const Kernels& k, const float* x, std::size_t n, Word* out) {
    return k.to_bfloat(x, n, out);
  }
  static std::uint32_t decode(const Kernels& k, const Word* in, std::size_t n, float* x) {
    return k.from_bfloat(in, n, x);
  }
};

// Encodes any of the formats. Stateless, so that rounds are independent.
template <typename Format>
class FixedWidthEncoder final : public Encoder {
 public:
  explicit FixedWidthEncoder(const Codec& codec) : codec_(codec) {}

  Status encode(const StageCall& call, std::span<const float> values, Bytes& payload) override {
    using Word = typename Format::Word;
    const MutableByteSpan body =
        start_payload({.spec = codec_.spec(),
                       .contributors = call.contributors,
                       .values = static_cast<std::uint32_t>(values.size())},
                      values.size() * sizeof(Word), payload);
    if (!encode_words(call, values, reinterpret_cast<Word*>(body.data()))) {
      return not_finite_error(call, values);
    }
    seal_payload(call.execution, payload);
    return {};
  }

 private:
  // Returns false if a value is NaN or Inf.
  static bool encode_words(const StageCall& call, std::span<const float> values,
                           typename Format::Word* words) {
    if constexpr (Format::kOnDevice) {
      std::uint32_t largest = 0;
      const bool done = encoded_on_device(call, &CodecDevice::quantize, [&](DeviceLoops& device) {
        TRIBUTARY_ASSIGN(largest, device.encode_words(Format::kFormat, values, words));
        return Status();
      });
      if (done) return largest < kInfinityBits;
    }
    std::atomic<bool> finite = true;
    for_each_chunk(call.execution, values.size(), kChunkValues,
                   [&](std::size_t, std::size_t begin, std::size_t end) {
                     const std::uint32_t largest =
                         Format::encode(kernels(call.execution.backend), values.data() + begin,
                                        end - begin, words + begin);
                     // Threads only ever set it to false, so the order of their writes does not
                     // matter.
                     if (largest >= kInfinityBits) finite = false;
                   });
    return finite;
  }

  const Codec& codec_;
};

// Adds float32 bodies in the order of arrival. The result therefore depends on that order in the
// last bits, unless the sums are exact.
class FloatSumAggregator final : public CombiningAggregator {
 public:
  FloatSumAggregator(const Codec& codec, std::uint32_t values)
      : CombiningAggregator(codec, 0, values) {}

 private:
  std::size_t body_bytes() const { return std::size_t{values_} * sizeof(float); }

  Result<Shape> shape_for(std::uint32_t) const override {
    return Shape{.layout = 0, .body_bytes = body_bytes()};
  }
  Status check_body(const OpenPayload& payload) const override {
    if (payload.body.size() == body_bytes()) return {};
    return wrong_body_size("body of fp32", body_bytes(), payload.body.size());
  }
  Status check_addable(const StageCall& call, UncheckedPayload& payload) const override {
    return check_addable_floats("values of an fp32 payload", call, payload,
                                payload.header().contributors);
  }
  void combine(const Execution& execution, const OpenPayload& payload, bool first,
               MutableByteSpan accumulator) const override {
    const float* const x = reinterpret_cast<const float*>(payload.body.data());
    auto* const sum = reinterpret_cast<float*>(accumulator.data());
    if (first) {
      copy(execution, x, sum);
    } else {
      add_both(execution, sum, x, sum);
    }
  }
  // Values that were not encoded are already float32.
  bool takes_values() const override { return true; }
  void start_with_values(const Execution& execution, std::span<const float> values,
                         const OpenPayload* payload, MutableByteSpan accumulator) const override {
    auto* const sum = reinterpret_cast<float*>(accumulator.data());
    if (payload == nullptr) {
      copy(execution, values.data(), sum);
    } else {
      add_both(execution, values.data(), reinterpret_cast<const float*>(payload->body.data()), sum);
    }
  }

  void copy(const Execution& execution, const float* from, float* to) const {
    for_each_chunk(execution, values_, kChunkValues,
                   [&](std::size_t, std::size_t begin, std::size_t end) {
                     std::memcpy(to + begin, from + begin, (end - begin) * sizeof(float));
                   });
  }
  void add_both(const Execution& execution, const float* a, const float* b, float* sum) const {
    for_each_chunk(
        execution, values_, kChunkValues, [&](std::size_t, std::size_t begin, std::size_t end) {
          kernels(execution.backend).add_floats(a + begin, b + begin, end - begin, sum + begin);
        });
  }
};

template <typename Format>
class FixedWidthCodec final : public Codec {
 public:
  const std::string& spec() const override { return spec_; }
  std::span<const Stage> stages() const override { return Format::kStages; }
  Aggregation aggregation() const override { return Format::kAggregation; }
  bool lossy() const override { return Format::kLossy; }

  std::unique_ptr<Encoder> make_encoder(std::uint32_t) const override {
    return std::make_unique<FixedWidthEncoder<Format>>(*this);
  }

  std::unique_ptr<Aggregator> make_aggregator(std::size_t, std::uint32_t values) const override {
    // float32 is added as it is; the 16-bit formats are decoded first.
    if constexpr (Format::kAggregation == Aggregation::sum) {
      return std::make_unique<FloatSumAggregator>(*this, values);
    } else {
      return make_decoding_aggregator(*this, values);
    }
  }

  Status decode(const StageCall& call, ByteSpan payload, std::span<float> sum) const override {
    using Word = typename Format::Word;
    TRIBUTARY_ASSIGN(const OpenPayload open,
                     open_payload_of(*this, 0, sum.size(), call.execution, payload));
    if (open.body.size() != sum.size() * sizeof(Word)) {
      return wrong_body_size(spec_, sum.size() * sizeof(Word), open.body.size());
    }
    const auto* const words = reinterpret_cast<const Word*>(open.body.data());
    const std::uint32_t largest_allowed =
        Format::largest_word(addend_max(call, open.header.contributors));
    if (decode_words(call, words, largest_allowed, sum)) return {};
    return beyond_addend_error(spec_ + " payload", call, open.header.contributors);
  }

 private:
  // Returns false if a word is larger than allowed. An untrusted word may be NaN or Inf, although
  // no encoder writes it.
  static bool decode_words(const StageCall& call, const typename Format::Word* words,
                           std::uint32_t largest_allowed, std::span<float> sum) {
    if constexpr (Format::kOnDevice) {
      std::uint32_t largest = 0;
      const bool done = done_on_device(call, &CodecDevice::quantize, [&](DeviceLoops& device) {
        TRIBUTARY_ASSIGN(largest,
                         device.decode_words(Format::kFormat, {words, sum.size()}, sum.data()));
        return Status();
      });
      if (done) return largest <= largest_allowed;
    }
    std::atomic<bool> within = true;
    for_each_chunk(call.execution, sum.size(), kChunkValues,
                   [&](std::size_t, std::size_t begin, std::size_t end) {
                     const std::uint32_t largest =
                         Format::decode(kernels(call.execution.backend), words + begin, end - begin,
                                        sum.data() + begin);
                     if (largest > largest_allowed) within = false;
                   });
    return within;
  }

  const std::string spec_ = std::string(Format::kName);
};

}  // namespace

Result<std::unique_ptr<Codec>> make_fp32(const Params&) {
  return std::unique_ptr<Codec>(std::make_unique<FixedWidthCodec<Fp32>>());
}
Result<std::unique_ptr<Codec>> make_fp16(const Params&) {
  return std::unique_ptr<Codec>(std::make_unique<FixedWidthCodec<Fp16>>());
}
Result<std::unique_ptr<Codec>> make_bf16(const Params&) {
  return std::unique_ptr<Codec>(std::make_unique<FixedWidthCodec<Bf16>>());
}

}  // namespace tributary::quantize
