// The signs of the rotation and the range of a block, which all agents compute alike.
#pragma once

#include <algorithm>
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

// The signs of a block's values. A draw of few words is slow, so small blocks share one.
class Signs {
 public:
  Signs(const StageCall& call, const Options& options)
      : key_(signs_key(call.round)),
        kernels_(kernels(call.execution.backend)),
        drawn_(std::max<std::size_t>(options.block, kDrawnMin) / kSignsPerWord),
        words_(drawn_ + kSpareWords) {}

  // Valid until the next call.
  const std::uint32_t* of(const Block& block) {
    const std::size_t first = block.begin / kSignsPerWord;
    const std::size_t count = block.size / kSignsPerWord;
    if (first < first_ || first + count > end_) {
      kernels_.draw_words(key_, static_cast<std::uint32_t>(first), drawn_, words_.data());
      first_ = first;
      end_ = first + drawn_;
    }
    return &words_[first - first_];
  }

 private:
  static constexpr std::size_t kDrawnMin = 4096;  // signs at a time
  static constexpr std::size_t kSpareWords = 2;   // kernels may read these words, but ignore them

  const StreamKey key_;
  const Kernels& kernels_;
  const std::size_t drawn_;
  RawVector<std::uint32_t> words_;
  std::size_t first_ = 0;  // the words that are drawn
  std::size_t end_ = 0;
};

// The range of a block, from the numbers of stage 0 of all blocks.
inline BlockRange range_of(const Options& options, const Levels& levels,
                           std::span<const float> norms, const Block& block) {
  return BlockRange::of(options.minmax, levels.threshold,
                        &norms[block.index * options.range_numbers()]);
}

}  // namespace tributary::thc
