// The codec int8_shared: the agents first agree on the largest magnitude of each block and then
// quantize with it. An aggregator can therefore add levels without decoding them.
//
//   stage 0, max: largest magnitude of every block, f32
//   stage 1, sum: one level per value. Layout 0: signed bytes of one agent; 1 and 2: sums in 16 and
//                 32 bits, the narrowest in which the planned number of agents can't overflow.
#include <algorithm>
#include <cmath>
#include <type_traits>

#include "core/codec/aggregate/aggregate.h"
#include "core/codec/device/codec_device.h"
#include "core/codec/finite.h"
#include "core/codec/payload.h"
#include "core/codec/quantize/device_loops.h"
#include "core/codec/quantize/families.h"
#include "core/codec/quantize/int8_blocks.h"

#include <fmt/format.h>

namespace tributary::quantize {
namespace {

constexpr Stage kInt8SharedStages[] = {{"scales", Combine::max}, {"levels", Combine::sum}};
constexpr std::int64_t kLevelMax = 128;  // per agent; an untrusted payload may contain -128

enum Layout : std::uint8_t { kLevels8, kSums16, kSums32 };

constexpr std::size_t width_of(std::uint8_t layout) { return std::size_t{1} << layout; }

// Calls visit(levels) with a pointer of the width that the layout states.
template <typename Visit>
void visit_levels(std::uint8_t layout, const std::uint8_t* body, const Visit& visit) {
  switch (layout) {
    case kLevels8:
      return visit(reinterpret_cast<const std::int8_t*>(body));
    case kSums16:
      return visit(reinterpret_cast<const std::int16_t*>(body));
    default:
      return visit(reinterpret_cast<const std::int32_t*>(body));
  }
}

// Checks an untrusted body: its size, and that no sum exceeds what its contributors can produce.
// Sums of checked bodies therefore cannot overflow.
Status check_levels(const OpenPayload& payload) {
  const PayloadHeader& header = payload.header;
  if (header.layout > kSums32 || (header.layout == kLevels8 && header.contributors != 1)) {
    return Status(StatusCode::corrupt_data,
                  {.what = "layout of int8_shared levels",
                   .expected = "0 for one contributor, 1 or 2 for sums",
                   .got = fmt::format("{} for {}", header.layout, header.contributors),
                   .remedy = "have the bucket sent again"});
  }
  const std::size_t bytes = header.values * width_of(header.layout);
  if (payload.body.size() != bytes) {
    return wrong_body_size("int8_shared levels", bytes, payload.body.size());
  }
  if (header.layout == kLevels8) return {};
  const std::int64_t bound = kLevelMax * header.contributors;
  bool within = true;
  visit_levels(header.layout, payload.body.data(), [&](const auto* levels) {
    for (std::size_t i = 0; i < header.values; ++i) {
      within &= levels[i] <= bound && levels[i] >= -bound;
    }
  });
  if (within) return {};
  return Status(
      StatusCode::corrupt_data,
      {.what = "sums of int8_shared levels",
       .expected = fmt::format("at most {} from {} contributors", bound, header.contributors),
       .got = "larger ones",
       .remedy = "have the bucket sent again"});
}

void decode_levels(const Kernels& k, const OpenPayload& payload, std::size_t begin, std::size_t end,
                   float step, float* x) {
  visit_levels(payload.header.layout, payload.body.data(), [&](const auto* levels) {
    using Level = std::remove_cvref_t<decltype(*levels)>;
    if constexpr (sizeof(Level) == 1) {
      k.from_levels8(levels + begin, end - begin, step, x);
    } else if constexpr (sizeof(Level) == 2) {
      k.from_levels16(levels + begin, end - begin, step, x);
    } else {
      k.from_levels32(levels + begin, end - begin, step, x);
    }
  });
}

// Returns false if the host must decode.
bool decode_on_device(const StageCall& call, const OpenPayload& payload, const Int8Options& options,
                      std::span<const float> scales, std::span<float> sum) {
  const LevelFormat format = {.block = options.block};
  return done_on_device(call, &CodecDevice::quantize, [&](DeviceLoops& device) {
    Status status;
    visit_levels(payload.header.layout, payload.body.data(), [&](const auto* levels) {
      using Level = std::remove_cvref_t<decltype(*levels)>;
      const std::span<const Level> all(levels, sum.size());
      if constexpr (sizeof(Level) == 1) {
        status = device.decode_levels8(format, all, scales.data(), sum.data());
      } else if constexpr (sizeof(Level) == 2) {
        status = device.decode_levels16(format, all, scales.data(), sum.data());
      } else {
        status = device.decode_levels32(format, all, scales.data(), sum.data());
      }
    });
    return status;
  });
}

// Adds levels as integers. The scales are the same for all agents, so no payload is decoded.
class LevelSumAggregator final : public CombiningAggregator {
 public:
  LevelSumAggregator(const Codec& codec, std::uint32_t values)
      : CombiningAggregator(codec, 1, values) {}

 private:
  // The planned agents are an upper bound on contributors, so the accumulator never needs a wider
  // layout during a round.
  Result<Shape> shape_for(std::uint32_t agents) const override {
    // 16 bits are enough for up to 255 agents.
    const std::uint8_t layout = agents * kLevelMax <= INT16_MAX ? kSums16 : kSums32;
    return Shape{.layout = layout, .body_bytes = values_ * width_of(layout)};
  }

  Status check_addable(const StageCall&, UncheckedPayload&) const override { return {}; }
  Status check_body(const OpenPayload& payload) const override { return check_levels(payload); }

  void combine(const Execution& execution, const OpenPayload& payload, bool first,
               MutableByteSpan accumulator) const override {
    const bool narrow = accumulator.size() == values_ * width_of(kSums16);
    const Kernels& k = kernels(execution.backend);
    for_each_chunk(execution, values_, kChunkValues,
                   [&](std::size_t, std::size_t begin, std::size_t end) {
                     const std::size_t n = end - begin;
                     const std::size_t width = narrow ? width_of(kSums16) : width_of(kSums32);
                     std::uint8_t* const sum = accumulator.data() + begin * width;
                     if (first) std::memset(sum, 0, n * width);
                     const std::uint8_t* const in =
                         payload.body.data() + begin * width_of(payload.header.layout);
                     add_levels(k, payload.header.layout, in, n, sum, narrow);
                   });
  }

  static void add_levels(const Kernels& k, std::uint8_t layout, const std::uint8_t* in,
                         std::size_t n, std::uint8_t* sum, bool narrow) {
    auto* const sum16 = reinterpret_cast<std::int16_t*>(sum);
    auto* const sum32 = reinterpret_cast<std::int32_t*>(sum);
    const auto* const in8 = reinterpret_cast<const std::int8_t*>(in);
    const auto* const in16 = reinterpret_cast<const std::int16_t*>(in);
    const auto* const in32 = reinterpret_cast<const std::int32_t*>(in);
    switch (layout) {
      case kLevels8:
        return narrow ? k.add_levels8_to16(in8, n, sum16) : k.add_levels8_to32(in8, n, sum32);
      case kSums16:
        return narrow ? k.add_levels16_to16(in16, n, sum16) : k.add_levels16_to32(in16, n, sum32);
      default:
        if (!narrow) return k.add_levels32_to32(in32, n, sum32);
        // A peer chose a wider layout than the plan requires. Its levels are checked, so they fit.
        for (std::size_t i = 0; i < n; ++i)
          sum16[i] = static_cast<std::int16_t>(sum16[i] + in32[i]);
    }
  }
};

class Int8SharedCodec final : public Codec {
 public:
  explicit Int8SharedCodec(const Params& params)
      : spec_(params.canonical("int8_shared")), options_(Int8Options::from(params)) {}

  const std::string& spec() const override { return spec_; }
  std::span<const Stage> stages() const override { return kInt8SharedStages; }
  Aggregation aggregation() const override { return Aggregation::sum; }
  bool lossy() const override { return true; }

  std::unique_ptr<Encoder> make_encoder(std::uint32_t values) const override;
  std::unique_ptr<Aggregator> make_aggregator(std::size_t stage,
                                              std::uint32_t values) const override {
    if (stage == 0) return make_max_aggregator(*this, 0, values, options_.blocks(values));
    return std::make_unique<LevelSumAggregator>(*this, values);
  }
  Status decode(const StageCall& call, ByteSpan payload, std::span<float> sum) const override;

  // Returns the combined magnitudes of stage 0, one per block. The span points into call.combined.
  Result<std::span<const float>> scales(const StageCall& call, std::size_t values) const {
    TRIBUTARY_ASSIGN(const OpenPayload open,
                     open_payload_of(*this, 0, values, call.execution, call.combined.front()));
    const std::size_t blocks = options_.blocks(values);
    if (open.body.size() != blocks * sizeof(float)) {
      return wrong_body_size("int8_shared scales", blocks * sizeof(float), open.body.size());
    }
    return std::span(reinterpret_cast<const float*>(open.body.data()), blocks);
  }

  const Int8Options& options() const { return options_; }

 private:
  const std::string spec_;
  const Int8Options options_;
};

class Int8SharedEncoder final : public Encoder {
 public:
  explicit Int8SharedEncoder(const Int8SharedCodec& codec) : codec_(codec) {}

  Status encode(const StageCall& call, std::span<const float> values, Bytes& payload) override {
    return call.stage() == 0 ? encode_scales(call, values, payload)
                             : encode_levels(call, values, payload);
  }

 private:
  Status encode_scales(const StageCall& call, std::span<const float> values, Bytes& payload) {
    const Int8Options& options = codec_.options();
    const MutableByteSpan body = start_payload(
        {.spec = codec_.spec(), .stage = 0, .values = static_cast<std::uint32_t>(values.size())},
        options.blocks(values.size()) * sizeof(float), payload);
    auto* const scales = reinterpret_cast<float*>(body.data());
    const bool done = encoded_on_device(call, &CodecDevice::quantize, [&](DeviceLoops& device) {
      return device.find_scales({.block = options.block}, values, scales);
    });
    if (!done) {
      const Kernels& loops = kernels(call.execution.backend);
      for_each_block(call.execution, options, values.size(),
                     [&](std::size_t block, std::size_t begin, std::size_t end) {
                       scales[block] = std::bit_cast<float>(
                           loops.largest_magnitude(values.data() + begin, end - begin));
                     });
    }
    if (!all_finite({scales, options.blocks(values.size())})) return not_finite_error(call, values);
    seal_payload(call.execution, payload);
    return {};
  }

  // Values above the shared scale saturate, and error feedback keeps the excess. A scale of an
  // earlier round would therefore also be valid.
  Status encode_levels(const StageCall& call, std::span<const float> values, Bytes& payload) {
    TRIBUTARY_ASSIGN(const std::span<const float> scales, codec_.scales(call, values.size()));
    const MutableByteSpan body =
        start_payload({.spec = codec_.spec(),
                       .stage = 1,
                       .layout = kLevels8,
                       .values = static_cast<std::uint32_t>(values.size())},
                      values.size(), payload);
    auto* const levels = reinterpret_cast<std::int8_t*>(body.data());
    const LevelWriter writer(call, codec_.options());
    const bool done = encoded_on_device(call, &CodecDevice::quantize, [&](DeviceLoops& device) {
      return device.encode_levels(writer.format(), values, scales.data(), levels);
    });
    if (!done) {
      for_each_block(call.execution, codec_.options(), values.size(),
                     [&](std::size_t block, std::size_t begin, std::size_t end) {
                       writer.write(values, begin, end, block_scale(scales[block]), levels);
                     });
    }
    seal_payload(call.execution, payload);
    return {};
  }

  const Int8SharedCodec& codec_;
};

std::unique_ptr<Encoder> Int8SharedCodec::make_encoder(std::uint32_t) const {
  return std::make_unique<Int8SharedEncoder>(*this);
}

Status Int8SharedCodec::decode(const StageCall& call, ByteSpan payload,
                               std::span<float> sum) const {
  TRIBUTARY_ASSIGN(const std::span<const float> scales, this->scales(call, sum.size()));
  TRIBUTARY_ASSIGN(const OpenPayload open,
                   open_payload_of(*this, 1, sum.size(), call.execution, payload));
  TRIBUTARY_TRY(check_levels(open));
  // Levels within the bound may still exceed float32 with a large scale, so each block's product is
  // checked once.
  const auto level_bound = static_cast<float>(kLevelMax * open.header.contributors);
  const bool finite = std::ranges::all_of(scales, [level_bound](float scale) {
    return std::isfinite(block_scale(scale).step * level_bound);
  });
  if (finite) {
    if (decode_on_device(call, open, options_, scales, sum)) return {};
    const Kernels& k = kernels(call.execution.backend);
    for_each_block(call.execution, options_, sum.size(),
                   [&](std::size_t block, std::size_t begin, std::size_t end) {
                     const float step = block_scale(scales[block]).step;
                     decode_levels(k, open, begin, end, step, sum.data() + begin);
                   });
    return {};
  }
  return not_addable_error(
      spec_ + " payload", "a sum within the range of float32",
      fmt::format("{} contributors at a scale beyond it", open.header.contributors));
}

}  // namespace

Result<std::unique_ptr<Codec>> make_int8_shared(const Params& params) {
  return std::unique_ptr<Codec>(std::make_unique<Int8SharedCodec>(params));
}

}  // namespace tributary::quantize
