// Divides a bucket into blocks: as many of the full size as fit, then the tail in smaller powers of
// two, the largest first. Less than kBlockMin values of padding are therefore rotated and sent.
//
// A layout is an immutable value.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "core/codec/chunks.h"

namespace tributary::thc {

// Limits of a block's size, in values.
constexpr std::uint32_t kBlockMin = 64;
constexpr std::uint32_t kBlockMax = 65536;

struct Block {
  std::size_t index;
  std::size_t begin;  // index of its first coordinate, in the values and in the fields
  std::size_t size;   // in coordinates; a power of two
};

class BlockLayout {
 public:
  BlockLayout(std::size_t values, std::uint32_t block)
      : values_(values), block_(block), full_(values / block) {
    const std::size_t tail = values % block;
    tail_units_ = (tail + kBlockMin - 1) / kBlockMin;
  }

  // Number of values without padding.
  std::size_t values() const { return values_; }
  // Number of coordinates with padding; a multiple of kBlockMin.
  std::size_t coordinates() const { return full_ * block_ + tail_units_ * kBlockMin; }
  std::size_t blocks() const {
    return full_ + static_cast<std::size_t>(std::popcount(tail_units_));
  }

  // Processes chunks of blocks, possibly in parallel. `body` runs once per chunk, so it can own
  // scratch memory, and its argument calls a visitor for each block of the chunk:
  //   layout.for_each_chunk(execution, [&](auto&& for_each_block) {
  //     scratch; for_each_block([&](const Block& block) { ... });
  //   });
  template <typename Body>
  void for_each_chunk(const Execution& execution, const Body& body) const {
    static_assert(kChunkValues % kBlockMax == 0, "a chunk holds whole blocks of any allowed size");
    tributary::for_each_chunk(execution, coordinates(), kChunkValues,
                              [&](std::size_t, std::size_t begin, std::size_t end) {
                                body([&](const auto& visit) { visit_blocks(begin, end, visit); });
                              });
  }

 private:
  // The tail is shorter than a block and starts at a multiple of one, so it lies in a single chunk.
  template <typename Visit>
  void visit_blocks(std::size_t begin, std::size_t end, const Visit& visit) const {
    std::size_t index = begin / block_;
    const std::size_t full_end = std::min(end, full_ * block_);
    for (; begin < full_end; begin += block_) visit(Block{index++, begin, block_});
    for (std::size_t units = tail_units_; begin < end; units -= std::bit_floor(units)) {
      const std::size_t size = std::bit_floor(units) * kBlockMin;
      visit(Block{index++, begin, size});
      begin += size;
    }
  }

  std::size_t values_;
  std::size_t block_;
  std::size_t full_;
  std::size_t tail_units_;  // blocks of size kBlockMin that cover the tail
};

}  // namespace tributary::thc
