// Tests of bitmaps at sizes around whole bytes and whole words, where counting masks the last word.
#include "core/round/common/machine/bitmap.h"

#include <gtest/gtest.h>

namespace tributary {
namespace {

// Sizes around whole bytes and whole words.
TEST(Bitmap, CountsTheBitsBelow) {
  for (std::size_t size = 0; size < 150; ++size) {
    Bitmap bits(size);
    std::uint32_t below = 0;
    for (std::size_t bit = 0; bit < size; ++bit) {
      ASSERT_EQ(bits.count_before(bit), below) << size << ", " << bit;
      if (bit % 3 == 0 || bit % 7 == 2) {
        bits.set(bit);
        ++below;
      }
    }
    ASSERT_EQ(bits.count(), below) << size;
  }
}

}  // namespace
}  // namespace tributary
