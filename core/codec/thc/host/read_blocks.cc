#include <algorithm>
#include <array>
#include <atomic>
#include <optional>

#include "core/codec/thc/block_range.h"
#include "core/codec/thc/host/host_loops.h"
#include "core/codec/thc/host/signs_and_range.h"

namespace tributary::thc {
namespace {

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
    kernels_.unpack8(in, n, levels.bits, level.data());
    kernels_.centre_levels(level.data(), n, levels, y);
    return true;
  }

  bool write_sums(const std::uint8_t* in, std::size_t n, const Levels& levels, float* y) const {
    // Below 2^30: kGranularityMax times kContributorsMax.
    const std::uint32_t most = levels.granularity * fields_.contributors;
    const auto middle = static_cast<std::int32_t>(most);
    const unsigned bits = fields_.bits_of(levels);
    return with_lane(levels.sum_bits, [&](auto lane) {
      alignas(64) std::array<decltype(lane), kPiece> sums;
      if constexpr (sizeof(lane) == 1) {
        kernels_.unpack8(in, n, bits, sums.data());
        return kernels_.centre8(sums.data(), n, middle, y) <= most;
      } else if constexpr (sizeof(lane) == 2) {
        kernels_.unpack16(in, n, bits, sums.data());
        return kernels_.centre16(sums.data(), n, middle, y) <= most;
      } else {
        kernels_.unpack32(in, n, bits, sums.data());
        return kernels_.centre32(sums.data(), n, middle, y) <= most;
      }
    });
  }

  const Kernels& kernels_;
  const Fields& fields_;
  const FieldPlan& plan_;
};

// Decodes one block after the other, in the caller's memory.
class BlockReader {
 public:
  BlockReader(const StageCall& call, const Options& options, const FieldPlan& plan,
              const Fields& fields)
      : kernels_(kernels(call.execution.backend)),
        options_(options),
        plan_(plan),
        fields_(fields),
        signs_(call, options) {
    for (const Run& run : plan.runs()) {
      divisors_.push_back(
          collect_divisor(static_cast<float>(run.levels->granularity), options.block));
    }
  }

  // Turns multiples of half a grid step in y into values. Returns the largest magnitude as bits.
  std::uint32_t move_to_values(const Block& block, std::size_t run, const BlockRange& range,
                               float* y) {
    const auto granularity = static_cast<float>(plan_.runs()[run].levels->granularity);
    const float offset = range.centre_half_steps(granularity, fields_.contributors);
    if (!options_.rotated) {
      return kernels_.affine(y, block.size, offset, range.decode_factor(granularity, 1), y);
    }
    if (offset != 0) kernels_.affine(y, block.size, offset, 1.0f, y);
    const float factor = block.size == options_.block
                             ? range.decode_factor(divisors_[run])
                             : range.decode_factor(granularity, block.size);
    return kernels_.collect(y, block.size, signs_.of(block), factor);
  }

 private:
  const Kernels& kernels_;
  const Options& options_;
  const FieldPlan& plan_;
  const Fields& fields_;
  Signs signs_;
  std::vector<float> divisors_;  // by run, for blocks of the full size
};

}  // namespace

DeviceLoops::Checks decode_levels(const StageCall& call, const Options& options,
                                  const FieldPlan& plan, const Fields& fields,
                                  std::span<const float> norms, std::span<float> sum) {
  const Centre centre(kernels(call.execution.backend), fields, plan);
  std::atomic<bool> within = true;
  std::atomic<bool> finite = true;
  options.layout(sum.size()).for_each_chunk(call.execution, [&](const auto& for_each_block) {
    BlockReader reader(call, options, plan, fields);
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
        } else if (reader.move_to_values(block, place->run, range, y) >= kInfinityBits) {
          finite = false;
        }
      }
      if (values < block.size) std::copy_n(y, values, sum.data() + block.begin);
    });
  });
  return {.within = within, .finite = finite};
}

}  // namespace tributary::thc
