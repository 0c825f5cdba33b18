// Shared parts of int8 and int8_shared: blocks of values with one scale, and the two ways to round
// to levels.
//
// Everything here is pure or immutable and may be used by several threads for different blocks.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "core/codec/chunks.h"
#include "core/codec/codec.h"
#include "core/codec/quantize/device_loops.h"
#include "core/codec/quantize/elements.h"
#include "core/codec/quantize/kernels.h"
#include "core/codec/spec.h"

namespace tributary::quantize {

// The parameters of both codecs. `block` is a power of two from 64 to 65536, in values.
struct Int8Options {
  std::uint32_t block = 4096;
  bool random_rounding = false;

  static Int8Options from(const Params& params) {
    return {.block = static_cast<std::uint32_t>(params.integer("block")),
            .random_rounding = params.choice("rounding") == "random"};
  }
  // Number of blocks, including a shorter last one.
  std::size_t blocks(std::size_t values) const { return (values + block - 1) / block; }
};

// Scales are largest magnitudes, so NaN and Inf in a block's values are in its scale.
inline bool all_finite(std::span<const float> scales) {
  return std::ranges::all_of(scales,
                             [](float scale) { return magnitude_bits(scale) < kInfinityBits; });
}

// Calls body(block, begin, end) for each block of `values` values. Chunks of whole blocks may run
// in parallel, so `body` must be safe for different blocks at once.
template <typename Body>
void for_each_block(const Execution& execution, const Int8Options& options, std::size_t values,
                    const Body& body) {
  static_assert(kChunkValues % 65536 == 0, "a chunk holds whole blocks of any allowed size");
  for_each_chunk(execution, values, kChunkValues,
                 [&](std::size_t, std::size_t begin, std::size_t end) {
                   for (std::size_t at = begin; at < end; at += options.block) {
                     body(at / options.block, at, std::min<std::size_t>(at + options.block, end));
                   }
                 });
}

// Rounds the values of a block to levels of the block's scale. Random rounding draws by the address
// of the bucket and the agent, so threads and backends draw the same numbers.
class LevelWriter {
 public:
  LevelWriter(const StageCall& call, const Int8Options& options)
      : kernels_(kernels(call.execution.backend)),
        format_{.block = options.block, .random_rounding = options.random_rounding} {
    if (format_.random_rounding) {
      format_.key = stream_key({.job_seed = call.round.job_seed,
                                .round = call.round.round,
                                .bucket = call.round.bucket,
                                .purpose = DrawPurpose::rounding,
                                .agent = call.round.agent});
    }
  }

  // The same rounding for a device.
  const LevelFormat& format() const { return format_; }

  // Writes the levels of values[begin, end), which must lie in one block. Both spans begin at the
  // start of the bucket.
  void write(std::span<const float> values, std::size_t begin, std::size_t end, BlockScale scale,
             std::int8_t* levels) const {
    const float* const x = values.data() + begin;
    if (format_.random_rounding) {
      kernels_.to_random_levels(x, end - begin, scale.levels_per_unit, format_.key,
                                static_cast<std::uint32_t>(begin), levels + begin);
    } else {
      kernels_.to_nearest_levels(x, end - begin, scale.levels_per_unit, levels + begin);
    }
  }

 private:
  const Kernels& kernels_;
  LevelFormat format_;
};

}  // namespace tributary::quantize
