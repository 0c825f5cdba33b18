#include <atomic>
#include <bit>
#include <cmath>
#include <cstring>
#include <optional>

#include "core/codec/thc/block_range.h"
#include "core/codec/thc/host/host_loops.h"
#include "core/codec/thc/host/signs_and_range.h"

namespace tributary::thc {
namespace {

// Returns a block's values; if the bucket ends before the block, a copy padded with zeros.
const float* padded(std::span<const float> values, const Block& block, FloatVector& copy) {
  if (block.begin + block.size <= values.size()) return values.data() + block.begin;
  copy.assign(block.size, 0.0f);
  std::ranges::copy(values.subspan(block.begin), copy.begin());
  return copy.data();
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

// Rotates, rounds and packs one block after the other, in buffers that stay in the cache.
class BlockWriter {
 public:
  BlockWriter(const StageCall& call, const Options& options, const FieldPlan& plan,
              const Rounding& rounding)
      : kernels_(kernels(call.execution.backend)),
        options_(options),
        plan_(plan),
        rounding_(rounding),
        signs_(call, options),
        y_(options.block),
        level_(options.block) {
    for (const Run& run : plan.runs()) {
      const Levels& levels = *run.levels;
      const float threshold = options.minmax ? 1.0f : levels.threshold;
      scales_.push_back(
          spread_scale(static_cast<float>(levels.granularity), threshold, options.block));
    }
  }

  void write(std::span<const float> values, const Block& block, std::size_t run,
             const BlockRange& range, std::uint8_t* fields) {
    const Levels& levels = *plan_.runs()[run].levels;
    if (range.is_zero()) {
      // The fields of a block of zeros are never used, but they must be the same on all agents.
      std::memset(fields, 0, fields_bytes(block.size, levels.bits));
      return;
    }
    move_to_grid(padded(values, block, copy_), block, run, range);
    kernels_.quantize(y_.data(), block.size, levels, rounding_,
                      static_cast<std::uint32_t>(block.begin), level_.data());
    kernels_.pack8(level_.data(), block.size, levels.bits, fields);
  }

 private:
  // Sets y_ to positions on the grid around its middle.
  void move_to_grid(const float* x, const Block& block, std::size_t run, const BlockRange& range) {
    const auto granularity = static_cast<float>(plan_.runs()[run].levels->granularity);
    if (!options_.rotated) {
      const float factor = range.encode_factor(granularity, 1);
      kernels_.affine(x, block.size, -range.centre * range.half, factor, y_.data());
      return;
    }
    const float factor = block.size == options_.block
                             ? range.encode_factor(scales_[run])
                             : range.encode_factor(granularity, block.size);
    kernels_.spread(x, block.size, signs_.of(block), factor, y_.data());
    const float offset = range.centre_half_steps(granularity, 1) * -0.5f;
    if (offset != 0) kernels_.affine(y_.data(), block.size, offset, 1.0f, y_.data());
  }

  const Kernels& kernels_;
  const Options& options_;
  const FieldPlan& plan_;
  const Rounding& rounding_;
  Signs signs_;
  std::vector<float> scales_;  // by run, for blocks of the full size
  FloatVector y_;
  Bytes level_;
  FloatVector copy_;
};

}  // namespace

bool write_ranges(const StageCall& call, const Options& options, std::span<const float> values,
                  float* norms) {
  std::atomic<bool> finite = true;
  options.layout(values.size()).for_each_chunk(call.execution, [&](const auto& for_each_block) {
    RangeWriter writer(call, options);
    for_each_block([&](const Block& block) {
      if (!writer.write(values, block, norms + block.index * options.range_numbers())) {
        finite = false;
      }
    });
  });
  return finite;
}

void write_levels(const StageCall& call, const Options& options, const FieldPlan& plan,
                  const Rounding& rounding, std::span<const float> values,
                  std::span<const float> norms, std::uint8_t* fields) {
  const std::vector<std::size_t> starts =
      plan.starts([](const Levels& levels) { return levels.bits; });
  options.layout(values.size()).for_each_chunk(call.execution, [&](const auto& for_each_block) {
    BlockWriter writer(call, options, plan, rounding);
    for_each_block([&](const Block& block) {
      const std::optional<FieldPlan::Place> place = plan.place(block);
      if (!place) return;
      const Levels& levels = *plan.runs()[place->run].levels;
      writer.write(values, block, place->run, range_of(options, levels, norms, block),
                   fields + starts[place->run] + fields_bytes(place->begin, levels.bits));
    });
  });
}

}  // namespace tributary::thc
