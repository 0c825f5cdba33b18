// The codec thc: the agents first agree on the range of every block, then all of them send levels
// on one grid.
//
//   stage 0, max: the root of the mean square of every block, f32, or its extent on both sides of 0
//                 as two f32 (block_range.h)
//   stage 1, sum: one level for each coordinate of the rotated blocks (body.h)
//
// The rotation preserves the norm of a block, so the range is known before the rotation.
#include <fmt/format.h>

#include <array>
#include <atomic>
#include <cmath>
#include <optional>

#include "core/codec/aggregate/aggregate.h"
#include "core/codec/device/codec_device.h"
#include "core/codec/finite.h"
#include "core/codec/payload.h"
#include "core/codec/thc/block_range.h"
#include "core/codec/thc/body.h"
#include "core/codec/thc/device/device_loops.h"
#include "core/codec/thc/families.h"
#include "core/codec/thc/kernels.h"
#include "core/codec/thc/options.h"
#include "core/codec/thc/packing.h"
#include "core/codec/thc/sum_aggregator.h"

namespace tributary::thc {
namespace {

constexpr Stage kStages[] = {{"norms", Combine::max}, {"levels", Combine::sum}};

// Returns a block's values; if the bucket ends before the block, a copy padded with zeros.
const float* padded(std::span<const float> values, const Block& block, FloatVector& copy) {
  if (block.begin + block.size <= values.size()) return values.data() + block.begin;
  copy.assign(block.size, 0.0f);
  std::ranges::copy(values.subspan(block.begin), copy.begin());
  return copy.data();
}

// The stream of the signs. All agents draw the same.
StreamKey signs_key(const RoundContext& round) {
  return stream_key({.job_seed = round.job_seed,
                     .round = round.round,
                     .bucket = round.bucket,
                     .purpose = DrawPurpose::hadamard_sign});
}

BlockFormat device_format(const StageCall& call, const Options& options) {
  return {.block = options.block,
          .rotated = options.rotated,
          .minmax = options.minmax,
          .signs = signs_key(call.round)};
}

// The signs of a block's values.
class Signs {
 public:
  Signs(const StageCall& call, const Options& options)
      : key_(signs_key(call.round)),
        kernels_(kernels(call.execution.backend)),
        words_(options.block / kSignsPerWord + kSpareWords) {}

  const std::uint32_t* of(const Block& block) {
    kernels_.draw_words(key_, static_cast<std::uint32_t>(block.begin / kSignsPerWord),
                        block.size / kSignsPerWord, words_.data());
    return words_.data();
  }

 private:
  static constexpr std::size_t kSpareWords = 2;  // kernels may read these words, but ignore them

  const StreamKey key_;
  const Kernels& kernels_;
  RawVector<std::uint32_t> words_;
};

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

BlockRange range_of(const Options& options, const Levels& levels, std::span<const float> norms,
                    const Block& block) {
  return BlockRange::of(options.minmax, levels.threshold,
                        &norms[block.index * options.range_numbers()]);
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
    if (!done) finite = write_ranges(call, layout, values, norms);
    if (!finite) return not_finite_error(call, values);
    seal_payload(call.execution, payload);
    return {};
  }

  // Returns false if a value is Inf or NaN.
  bool write_ranges(const StageCall& call, const BlockLayout& layout, std::span<const float> values,
                    float* norms) const {
    std::atomic<bool> finite = true;
    layout.for_each_chunk(call.execution, [&](const auto& for_each_block) {
      RangeWriter writer(call, options_);
      for_each_block([&](const Block& block) {
        if (!writer.write(values, block, norms + block.index * options_.range_numbers())) {
          finite = false;
        }
      });
    });
    return finite;
  }

  // Writes the numbers of stage 0.
  class RangeWriter {
   public:
    RangeWriter(const StageCall& call, const Options& options)
        : kernels_(kernels(call.execution.backend)), options_(options), signs_(call, options) {}

    // Returns false if a value is Inf or NaN.
    bool write(std::span<const float> values, const Block& block, float* numbers) {
      const float* const x = padded(values, block, copy_);
      return options_.minmax ? write_extent(x, block, numbers) : write_rms(x, block, *numbers);
    }

   private:
    bool write_rms(const float* x, const Block& block, float& rms) const {
      float sum;
      // The unscaled sum serves almost all blocks. Only extreme ones need a second pass.
      const std::uint32_t largest = kernels_.sum_squares(x, block.size, 1.0f, &sum);
      // A block below kRmsMin decodes to zeros; its norm is 0, so that all agents treat it alike.
      rms = 0;
      if (largest < std::bit_cast<std::uint32_t>(kRmsMin)) return true;
      const float scale = norm_scale(largest);
      if (scale != 1.0f) kernels_.sum_squares(x, block.size, scale, &sum);
      rms = rms_of(sum, block.size, scale);
      return largest < kInfinityBits;
    }

    bool write_extent(const float* x, const Block& block, float* extent) {
      if (kernels_.extent(x, block.size, &extent[0], &extent[1]) >= kInfinityBits) return false;
      if (!options_.rotated) return true;
      y_.resize(block.size);
      kernels_.spread(x, block.size, signs_.of(block), 1.0f / sqrtf(static_cast<float>(block.size)),
                      y_.data());
      if (kernels_.extent(y_.data(), block.size, &extent[0], &extent[1]) >= kInfinityBits) {
        // The rotation of finite values may exceed the range of float32.
        extent[0] = extent[1] = 0x1.fffffep127f;
      }
      return true;
    }

    const Kernels& kernels_;
    const Options& options_;
    Signs signs_;
    FloatVector y_;
    FloatVector copy_;
  };

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
    if (!done) {
      layout.for_each_chunk(call.execution, [&](const auto& for_each_block) {
        BlockWriter writer(call, options_, rounding);
        for_each_block([&](const Block& block) {
          const std::optional<FieldPlan::Place> place = plan.place(block);
          if (!place) return;
          const Levels& levels = *plan.runs()[place->run].levels;
          writer.write(values, block, levels, range_of(options_, levels, norms, block),
                       fields + starts[place->run] + fields_bytes(place->begin, levels.bits));
        });
      });
    }
    seal_payload(call.execution, payload);
    return {};
  }

  // Rotates, rounds and packs one block after the other, in buffers that stay in the cache.
  class BlockWriter {
   public:
    BlockWriter(const StageCall& call, const Options& options, const Rounding& rounding)
        : kernels_(kernels(call.execution.backend)),
          options_(options),
          rounding_(rounding),
          signs_(call, options),
          y_(options.block),
          level_(options.block) {}

    void write(std::span<const float> values, const Block& block, const Levels& levels,
               const BlockRange& range, std::uint8_t* fields) {
      if (range.is_zero()) {
        // The fields of a block of zeros are never used, but they must be the same on all agents.
        std::memset(fields, 0, fields_bytes(block.size, levels.bits));
        return;
      }
      move_to_grid(padded(values, block, copy_), block, levels, range);
      kernels_.quantize(y_.data(), block.size, levels, rounding_,
                        static_cast<std::uint32_t>(block.begin), level_.data());
      if (levels.bits == 4) {
        kernels_.pack_nibbles(level_.data(), block.size, fields);
      } else {
        pack_fields(level_.data(), block.size, levels.bits, fields);
      }
    }

   private:
    // Sets y_ to positions on the grid around its middle.
    void move_to_grid(const float* x, const Block& block, const Levels& levels,
                      const BlockRange& range) {
      const auto granularity = static_cast<float>(levels.granularity);
      if (!options_.rotated) {
        const float factor = range.encode_factor(granularity, 1);
        kernels_.affine(x, block.size, -range.centre * range.half, factor, y_.data());
        return;
      }
      kernels_.spread(x, block.size, signs_.of(block), range.encode_factor(granularity, block.size),
                      y_.data());
      const float offset = range.centre_half_steps(granularity, 1) * -0.5f;
      if (offset != 0) kernels_.affine(y_.data(), block.size, offset, 1.0f, y_.data());
    }

    const Kernels& kernels_;
    const Options& options_;
    const Rounding& rounding_;
    Signs signs_;
    FloatVector y_;
    Bytes level_;
    FloatVector copy_;
  };

  const ThcCodec& codec_;
  const Options& options_;
};

std::unique_ptr<Encoder> ThcCodec::make_encoder(std::uint32_t) const {
  return std::make_unique<ThcEncoder>(*this);
}

// Converts one agent's levels, or sums of several agents, to multiples of half a grid step around
// 0.
class Centre {
 public:
  Centre(const Kernels& k, const Fields& fields, const FieldPlan& plan)
      : kernels_(k), fields_(fields), plan_(plan) {}

  // Returns false if a sum exceeds what its contributors can produce.
  bool write(const FieldPlan::Place& place, std::size_t n, float* y) const {
    const Levels& levels = *plan_.runs()[place.run].levels;
    bool within = true;
    for (std::size_t at = 0; at < n; at += kPiece) {
      const std::size_t piece = std::min(kPiece, n - at);
      const std::uint8_t* const in = fields_.at(place.run, levels, place.begin + at);
      within &= fields_.sums ? write_sums(in, piece, levels, y + at)
                             : write_levels(in, piece, levels, y + at);
    }
    return within;
  }

 private:
  static constexpr std::size_t kPiece = 4096;

  bool write_levels(const std::uint8_t* in, std::size_t n, const Levels& levels, float* y) const {
    alignas(64) std::array<std::uint8_t, kPiece> level;
    alignas(64) std::array<std::uint16_t, kPiece> place;
    if (levels.bits == 4) {
      kernels_.unpack_nibbles(in, n, level.data());
    } else {
      unpack_fields(in, n, levels.bits, level.data());
    }
    // look_up_add16() adds, so the places must start from zero.
    std::memset(place.data(), 0, n * sizeof(place[0]));
    kernels_.look_up_add16(level.data(), n, levels, place.data());
    kernels_.centre16(place.data(), n, static_cast<std::int32_t>(levels.granularity), y);
    return true;
  }

  bool write_sums(const std::uint8_t* in, std::size_t n, const Levels& levels, float* y) const {
    // Below 2^30: kGranularityMax times kContributorsMax.
    const std::uint32_t most = levels.granularity * fields_.contributors;
    const auto middle = static_cast<std::int32_t>(most);
    return with_lane(levels.sum_bits, [&](auto lane) {
      alignas(64) std::array<decltype(lane), kPiece> sums;
      unpack_fields(in, n, fields_.bits_of(levels), sums.data());
      decltype(lane) largest = 0;
      for (std::size_t i = 0; i < n; ++i) largest = std::max(largest, sums[i]);
      if (largest > most) return false;
      if constexpr (sizeof(lane) == 1) {
        kernels_.centre8(sums.data(), n, middle, y);
      } else if constexpr (sizeof(lane) == 2) {
        kernels_.centre16(sums.data(), n, middle, y);
      } else {
        kernels_.centre32(sums.data(), n, middle, y);
      }
      return true;
    });
  }

  const Kernels& kernels_;
  const Fields& fields_;
  const FieldPlan& plan_;
};

// Decodes one block after the other, in the caller's memory.
class BlockReader {
 public:
  BlockReader(const StageCall& call, const Options& options, const Fields& fields)
      : kernels_(kernels(call.execution.backend)),
        options_(options),
        fields_(fields),
        signs_(call, options) {}

  // Turns multiples of half a grid step in y into values. Returns the largest magnitude as bits.
  std::uint32_t move_to_values(const Block& block, const Levels& levels, const BlockRange& range,
                               float* y) {
    const auto granularity = static_cast<float>(levels.granularity);
    const float offset = range.centre_half_steps(granularity, fields_.contributors);
    if (!options_.rotated) {
      return kernels_.affine(y, block.size, offset, range.decode_factor(granularity, 1), y);
    }
    if (offset != 0) kernels_.affine(y, block.size, offset, 1.0f, y);
    return kernels_.collect(y, block.size, signs_.of(block),
                            range.decode_factor(granularity, block.size));
  }

 private:
  const Kernels& kernels_;
  const Options& options_;
  const Fields& fields_;
  Signs signs_;
};

DeviceLoops::Checks decode_on_host(const StageCall& call, const Options& options,
                                   const FieldPlan& plan, const Fields& fields,
                                   std::span<const float> norms, std::span<float> sum) {
  const Centre centre(kernels(call.execution.backend), fields, plan);
  std::atomic<bool> within = true;
  std::atomic<bool> finite = true;
  options.layout(sum.size()).for_each_chunk(call.execution, [&](const auto& for_each_block) {
    BlockReader reader(call, options, fields);
    FloatVector scratch;
    for_each_block([&](const Block& block) {
      const std::size_t values = std::min(block.size, sum.size() - block.begin);
      // A block that ends after the bucket is decoded in scratch memory, because it has more
      // coordinates than values.
      float* y = sum.data() + block.begin;
      if (values < block.size) {
        scratch.resize(block.size);
        y = scratch.data();
      }
      const std::optional<FieldPlan::Place> place = plan.place(block);
      if (!place) {
        std::fill_n(y, block.size, 0.0f);
      } else {
        if (!centre.write(*place, block.size, y)) within = false;
        const Levels& levels = *plan.runs()[place->run].levels;
        const BlockRange range = range_of(options, levels, norms, block);
        if (range.is_zero()) {
          std::fill_n(y, block.size, 0.0f);
        } else if (reader.move_to_values(block, levels, range, y) >= kInfinityBits) {
          finite = false;
        }
      }
      if (values < block.size) std::copy_n(y, values, sum.data() + block.begin);
    });
  });
  return {.within = within, .finite = finite};
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
  if (!done) checks = decode_on_host(call, options_, plan, fields, norms, sum);
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
