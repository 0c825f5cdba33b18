#include "core/base/bytes/heap.h"

#include <gtest/gtest.h>
#include <malloc.h>

#include <cstdlib>

#include "core/base/sanitized_testing.h"

namespace tributary {
namespace {

// Whether malloc maps a block of this size by itself. It takes free memory of the heap first.
bool maps(std::size_t bytes) {
  ::malloc_trim(0);
  const std::size_t before = ::mallinfo2().hblks;
  void* const block = std::malloc(bytes);
  const bool mapped = block != nullptr && ::mallinfo2().hblks == before + 1;
  std::free(block);
  return mapped;
}

TEST(Heap, BlocksAreMappedFromTheLimitOnThatIsSetLast) {
  if (kSanitized) GTEST_SKIP() << "sanitizers have a malloc of their own";
  constexpr std::size_t kBlock = 1 << 20;
  map_blocks_from(8 * kBlock);
  EXPECT_FALSE(maps(kBlock));
  EXPECT_TRUE(maps(8 * kBlock));
  map_blocks_from(kBlock);
  EXPECT_TRUE(maps(kBlock));
  EXPECT_FALSE(maps(kBlock / 2));
}

}  // namespace
}  // namespace tributary
