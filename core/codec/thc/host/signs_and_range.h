// The signs of the rotation and the range of a block, which all agents compute alike.
#pragma once

#include <span>

#include "core/base/bytes/bytes.h"
#include "core/codec/codec.h"
#include "core/codec/thc/block_range.h"
#include "core/codec/thc/blocks/blocks.h"
#include "core/codec/thc/kernels.h"
#include "core/codec/thc/options.h"

namespace tributary::thc {

// The stream of the signs. All agents draw the same.
StreamKey signs_key(const RoundContext& round);

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

// The range of a block, from the numbers of stage 0 of all blocks.
inline BlockRange range_of(const Options& options, const Levels& levels,
                           std::span<const float> norms, const Block& block) {
  return BlockRange::of(options.minmax, levels.threshold,
                        &norms[block.index * options.range_numbers()]);
}

}  // namespace tributary::thc
