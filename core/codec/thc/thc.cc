// The codec thc: the agents first agree on the range of every block, then all of them send levels
// on one grid.
//
//   stage 0, max: the root of the mean square of every block, f32, or its extent on both sides of 0
//                 as two f32 (block_range.h)
//   stage 1, sum: one level for each coordinate of the rotated blocks (body.h)
//
// The rotation preserves the norm of a block, so the range is known before the rotation.
#include <fmt/format.h>

#include <optional>

#include "core/codec/aggregate/aggregate.h"
#include "core/codec/device/codec_device.h"
#include "core/codec/finite.h"
#include "core/codec/payload.h"
#include "core/codec/thc/body.h"
#include "core/codec/thc/device/device_loops.h"
#include "core/codec/thc/families.h"
#include "core/codec/thc/host/host_loops.h"
#include "core/codec/thc/host/signs_and_range.h"
#include "core/codec/thc/options.h"
#include "core/codec/thc/sum_aggregator.h"

namespace tributary::thc {
namespace {

constexpr Stage kStages[] = {{"norms", Combine::max}, {"levels", Combine::sum}};

BlockFormat device_format(const StageCall& call, const Options& options) {
  return {.block = options.block,
          .rotated = options.rotated,
          .minmax = options.minmax,
          .signs = signs_key(call.round)};
}

// With correlated rounding all agents share a stream and differ by flip and shift; otherwise each
// agent has its own stream.
Rounding rounding_of(const RoundContext& round, bool correlated) {
  const StreamKey key = stream_key({.job_seed = round.job_seed,
                                    .round = round.round,
                                    .bucket = round.bucket,
                                    .purpose = DrawPurpose::rounding,
                                    .agent = correlated ? kSharedDraw : round.agent});
  return correlated ? correlated_rounding(key, round.agent, round.agents) : Rounding{.key = key};
}

// Adds the bits of every layer to the facts of the round.
void count_layer_bits(const StageCall& call, const BlockLayout& layout, const FieldPlan& plan) {
  const auto values = static_cast<std::uint32_t>(layout.values());
  const LayerRun whole = {.offset = 0, .count = values};
  const std::span<const LayerRun> layers =
      call.round.layers.empty() ? std::span(&whole, 1) : call.round.layers;
  auto layer = layers.begin();
  std::uint64_t bits = 0;
  layout.for_each_chunk({}, [&](const auto& for_each_block) {
    for_each_block([&](const Block& block) {
      const std::optional<FieldPlan::Place> place = plan.place(block);
      const std::uint64_t each = place ? plan.runs()[place->run].levels->bits : 0;
      std::size_t begin = block.begin;
      const std::size_t end = std::min<std::size_t>(block.begin + block.size, values);
      while (layer != layers.end() && begin < end) {
        const std::size_t layer_end = layer->offset + layer->count;
        bits += each * (std::min(end, layer_end) - begin);
        begin = std::min(end, layer_end);
        if (begin < layer_end) break;
        call.facts->layer_bits[{call.round.bucket, layer->offset}] = {layer->count, bits};
        bits = 0;
        ++layer;
      }
    });
  });
}

class ThcCodec final : public Codec {
 public:
  ThcCodec(const Params& params, const Options& options, bool contracts)
      : spec_(params.canonical("thc")), options_(options), contracts_(contracts) {}

  const std::string& spec() const override { return spec_; }
  std::span<const Stage> stages() const override { return kStages; }
  Aggregation aggregation() const override { return Aggregation::sum; }
  bool lossy() const override { return true; }
  // With range=minmax one large value widens the range of its block, and the error of the others
  // can exceed the update. Nothing is clamped and rounding is unbiased, so there is no residual.
  bool conserves() const override { return !options_.minmax; }
  bool contracts() const override { return contracts_; }

  std::unique_ptr<Encoder> make_encoder(std::uint32_t values) const override;
  std::unique_ptr<Aggregator> make_aggregator(std::size_t stage,
                                              std::uint32_t values) const override {
    if (stage == 0) {
      return make_max_aggregator(*this, 0, values,
                                 options_.layout(values).blocks() * options_.range_numbers());
    }
    return make_sum_aggregator(*this, values, options_);
  }
  Status decode(const StageCall& call, ByteSpan payload, std::span<float> sum) const override;

  const Options& options() const { return options_; }

 private:
  const std::string spec_;
  const Options options_;
  const bool contracts_;
};

class ThcEncoder final : public Encoder {
 public:
  explicit ThcEncoder(const ThcCodec& codec) : codec_(codec), options_(codec.options()) {}

  Status encode(const StageCall& call, std::span<const float> values, Bytes& payload) override {
    return call.stage() == 0 ? encode_norms(call, values, payload)
                             : encode_levels(call, values, payload);
  }

 private:
  Status encode_norms(const StageCall& call, std::span<const float> values, Bytes& payload) const {
    const BlockLayout layout = options_.layout(values.size());
    const MutableByteSpan body = start_payload(
        {.spec = codec_.spec(), .stage = 0, .values = static_cast<std::uint32_t>(values.size())},
        layout.blocks() * options_.range_numbers() * sizeof(float), payload);
    auto* const norms = reinterpret_cast<float*>(body.data());
    bool finite = true;
    const bool done =
        encoded_on_device(call, &CodecDevice::thc, [&](DeviceLoops& device) -> Status {
          TRIBUTARY_ASSIGN(finite,
                           device.find_ranges(device_format(call, options_), values, norms));
          return {};
        });
    if (!done) finite = write_ranges(call, options_, values, norms);
    if (!finite) return not_finite_error(call, values);
    seal_payload(call.execution, payload);
    return {};
  }

  // A value outside the agreed range is clamped, and error feedback keeps the excess.
  Status encode_levels(const StageCall& call, std::span<const float> values, Bytes& payload) const {
    TRIBUTARY_ASSIGN(const std::span<const float> norms,
                     open_norms(codec_, options_, call, values.size()));
    TRIBUTARY_ASSIGN(const FieldPlan plan,
                     FieldPlan::make(options_, call.round.agents, values.size(), norms));
    const BlockLayout layout = options_.layout(values.size());
    const std::vector<std::size_t> starts =
        plan.starts([](const Levels& levels) { return levels.bits; });
    const MutableByteSpan body =
        start_payload({.spec = codec_.spec(),
                       .stage = 1,
                       .layout = kLevelsLayout,
                       .values = static_cast<std::uint32_t>(values.size())},
                      kStampBytes + starts.back(), payload);
    plan.write_stamp(body.data());
    if (call.facts != nullptr && options_.rate != 0) count_layer_bits(call, layout, plan);
    const Rounding rounding = rounding_of(call.round, options_.correlated);
    std::uint8_t* const fields = body.data() + kStampBytes;
    const bool done = encoded_on_device(call, &CodecDevice::thc, [&](DeviceLoops& device) {
      return device.encode_levels(device_format(call, options_), plan, rounding, values, norms,
                                  fields);
    });
    if (!done) write_levels(call, options_, plan, rounding, values, norms, fields);
    seal_payload(call.execution, payload);
    return {};
  }

  const ThcCodec& codec_;
  const Options& options_;
};

std::unique_ptr<Encoder> ThcCodec::make_encoder(std::uint32_t) const {
  return std::make_unique<ThcEncoder>(*this);
}

Status ThcCodec::decode(const StageCall& call, ByteSpan payload, std::span<float> sum) const {
  TRIBUTARY_ASSIGN(const std::span<const float> norms,
                   open_norms(*this, options_, call, sum.size()));
  TRIBUTARY_ASSIGN(const FieldPlan plan,
                   FieldPlan::make(options_, call.round.agents, sum.size(), norms));
  TRIBUTARY_ASSIGN(const OpenPayload open,
                   open_payload_of(*this, 1, sum.size(), call.execution, payload));
  TRIBUTARY_ASSIGN(const Fields fields, open_fields(open, plan));
  DeviceLoops::Checks checks = {};
  const bool done = done_on_device(call, &CodecDevice::thc, [&](DeviceLoops& device) -> Status {
    TRIBUTARY_ASSIGN(checks,
                     device.decode(device_format(call, options_), plan, fields, norms, sum));
    return {};
  });
  if (!done) checks = decode_levels(call, options_, plan, fields, norms, sum);
  if (!checks.within) return sum_too_large(fields.contributors);
  if (checks.finite) return {};
  return not_addable_error(spec_ + " payload", "a sum within the range of float32",
                           fmt::format("{} contributors at a norm beyond it", fields.contributors));
}

// Refuses options that a shared rate replaces, or whose errors its division does not know.
Status check_rate(const Params& params, const Options& options) {
  constexpr double kRateMin = 0.25;
  if (options.rate < kRateMin) {
    return Status(StatusCode::invalid_argument,
                  {.what = "parameter 'rate' of codec 'thc'",
                   .expected = fmt::format("{} to {}", kRateMin, kBitsMax),
                   .got = fmt::format("{}", options.rate),
                   .remedy = "or leave it out and give bits"});
  }
  const Options usual;
  const auto refuse = [&](std::string_view option, std::string_view reason) {
    return Status(StatusCode::invalid_argument,
                  {.what = fmt::format("codec spec '{}'", params.canonical("thc")),
                   .expected = fmt::format("no '{}' beside 'rate', {}", option, reason),
                   .got = "both",
                   .remedy = "leave one of them out"});
  };
  constexpr std::string_view kChosen = "which chooses it for every block";
  constexpr std::string_view kNormal = "which divides bits by norms of rotated blocks";
  if (options.bits != usual.bits) return refuse("bits", kChosen);
  if (options.granularity != 0) return refuse("granularity", kChosen);
  if (options.p != 0) return refuse("p", kChosen);
  if (options.uniform) return refuse("levels", kChosen);
  if (!options.rotated) return refuse("rotation", kNormal);
  if (options.minmax) return refuse("range", kNormal);
  if (options.down_bits != 0) return refuse("down", "whose sums have several widths");
  return {};
}

}  // namespace

Result<std::unique_ptr<Codec>> make_thc(const Params& params) {
  const Options options = Options::from(params);
  if (options.rate != 0) {
    TRIBUTARY_TRY(check_rate(params, options));
    // Every width contracts (widths_for()), and every round sends the block with the largest norm.
    return std::unique_ptr<Codec>(std::make_unique<ThcCodec>(params, options, true));
  }
  // Parameters that are invalid for one agent are invalid for any number. With one agent, the table
  // also gives the error that decides whether error feedback converges.
  TRIBUTARY_ASSIGN(const auto levels, options.levels_for(1));
  return std::unique_ptr<Codec>(
      std::make_unique<ThcCodec>(params, options, !options.minmax && levels->own_error < 1));
}

}  // namespace tributary::thc
