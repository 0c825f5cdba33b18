// Tests of the division of a bucket into blocks of powers of two.
#include "core/codec/thc/blocks/blocks.h"

#include <gtest/gtest.h>

#include <vector>

namespace tributary::thc {
namespace {

std::vector<Block> blocks_of(const BlockLayout& layout, ThreadPool* pool = nullptr) {
  std::vector<Block> blocks(layout.blocks());
  layout.for_each_chunk({.pool = pool}, [&](const auto& for_each_block) {
    for_each_block([&](const Block& block) { blocks.at(block.index) = block; });
  });
  return blocks;
}

TEST(BlockLayout, TheTailIsCutIntoSmallerPowersOfTwo) {
  const std::vector<Block> blocks = blocks_of(BlockLayout(4096 + 900, 4096));
  std::vector<std::size_t> sizes;
  for (const Block& block : blocks) sizes.push_back(block.size);
  EXPECT_EQ(sizes, (std::vector<std::size_t>{4096, 512, 256, 128, 64}));  // 960 for 900 values
}

TEST(BlockLayout, EveryValueHasItsBlockAndPaddingIsShort) {
  ThreadPool pool(2);
  for (const std::uint32_t size : {64u, 128u, 4096u, 65536u}) {
    for (const std::size_t values : {0u, 1u, 63u, 64u, 65u, 1000u, 4095u, 4096u, 4097u, 65535u,
                                     65536u, 65537u, 131072u + 8191u}) {
      const BlockLayout layout(values, size);
      EXPECT_GE(layout.coordinates(), values);
      EXPECT_LT(layout.coordinates(), values + kBlockMin);
      std::size_t begin = 0;
      for (const Block& block : blocks_of(layout, &pool)) {
        EXPECT_EQ(block.begin, begin);
        EXPECT_LE(block.size, size);
        EXPECT_GE(block.size, kBlockMin);
        EXPECT_TRUE(std::has_single_bit(block.size));
        begin += block.size;
      }
      EXPECT_EQ(begin, layout.coordinates());
    }
  }
}

}  // namespace
}  // namespace tributary::thc
