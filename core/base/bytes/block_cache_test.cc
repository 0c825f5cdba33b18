#include "core/base/bytes/block_cache.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>
#include <thread>
#include <vector>

#include "core/base/bytes/bytes.h"
#include "core/base/memory_checked.h"
#include "core/base/sanitized_testing.h"

namespace {
thread_local std::size_t allocations_of_this_thread = 0;
}  // namespace

// These take the place of the library's for this program. Each thread counts its own. The thread
// sanitizer has its own ones, so nothing is counted with it.
#if !TRIBUTARY_THREADS_ARE_CHECKED
[[gnu::noinline]] void* operator new(std::size_t bytes) {
  ++allocations_of_this_thread;
  if (void* const block = std::malloc(bytes)) return block;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* block) noexcept { std::free(block); }
[[gnu::noinline]] void operator delete(void* block, std::size_t) noexcept { std::free(block); }
#endif

namespace tributary {
namespace {

constexpr std::size_t kMib = 1 << 20;

TEST(BlockCache, GivesTheBlockOfTheSameSizeAgain) {
  BlockCache cache;
  void* const first = cache.take(4 * kMib);
  std::memset(first, 1, 4 * kMib);
  cache.give_back(first, 4 * kMib);
  EXPECT_EQ(cache.usage().kept_bytes, 4 * kMib);
  EXPECT_EQ(cache.take(4 * kMib), first);
  EXPECT_EQ(cache.usage().kept_bytes, 0u);
  cache.give_back(first, 4 * kMib);
}

TEST(BlockCache, DividesAndJoinsRanges) {
  BlockCache cache;
  void* const model = cache.take(16 * kMib);
  cache.give_back(model, 16 * kMib);
  std::array<void*, 4> buckets = {};
  for (void*& bucket : buckets) {
    bucket = cache.take(4 * kMib);
    EXPECT_GE(bucket, model);
    std::memset(bucket, 1, 4 * kMib);
  }
  EXPECT_EQ(cache.usage().kept_bytes, 0u);
  for (const std::size_t i : {2u, 0u, 3u, 1u}) cache.give_back(buckets[i], 4 * kMib);
  EXPECT_EQ(cache.take(16 * kMib), model);
  cache.give_back(model, 16 * kMib);
}

// A vector's destructor gives its block back, also when no memory is left.
TEST(BlockCache, GivesBackWithoutAnAllocation) {
  BlockCache cache;
  std::array<void*, 200> blocks = {};
  for (void*& block : blocks) block = cache.take(2 * kMib);
  const std::size_t before = allocations_of_this_thread;
  // No two are neighbours at first.
  for (std::size_t i = 0; i < blocks.size(); i += 2) cache.give_back(blocks[i], 2 * kMib);
  for (std::size_t i = 1; i < blocks.size(); i += 2) cache.give_back(blocks[i], 2 * kMib);
  EXPECT_EQ(allocations_of_this_thread, before);
  EXPECT_EQ(cache.usage().kept_bytes, 400 * kMib);
}

// As a trainer's library may do that has its own copy of the cache.
TEST(BlockCache, TakesBlocksOfAnotherCacheWithoutAnAllocation) {
  BlockCache other;
  std::array<void*, 20> blocks = {};
  for (void*& block : blocks) block = other.take(kMib);
  BlockCache cache;
  cache.give_back(cache.take(100 * kMib), 100 * kMib);  // it may keep as much
  void* const used = cache.take(100 * kMib);
  const std::size_t before = allocations_of_this_thread;
  for (std::size_t i = 0; i < blocks.size(); i += 2) cache.give_back(blocks[i], kMib);
  EXPECT_EQ(allocations_of_this_thread, before);
  for (std::size_t i = 1; i < blocks.size(); i += 2) other.give_back(blocks[i], kMib);
  cache.give_back(used, 100 * kMib);
  EXPECT_LE(cache.usage().kept_bytes, 100 * kMib);
}

TEST(BlockCache, NeverNeedsMoreThanTheMemoryInUseAtItsPeak) {
  BlockCache cache;
  void* const a = cache.take(8 * kMib);
  void* const b = cache.take(4 * kMib);
  cache.give_back(a, 8 * kMib);
  // Twelve were in use. Ten fit beside the four only if the eight are unmapped.
  void* const c = cache.take(10 * kMib);
  EXPECT_EQ(cache.usage().kept_bytes, 0u);
  EXPECT_EQ(cache.usage().peak_bytes, 14 * kMib);
  cache.give_back(b, 4 * kMib);
  EXPECT_EQ(cache.usage().kept_bytes, 4 * kMib);
  // Twelve are not kept in one piece, so two of the four kept ones are unmapped for them.
  cache.give_back(c, 10 * kMib);
  void* const d = cache.take(2 * kMib);
  void* const e = cache.take(11 * kMib);
  const BlockCache::Usage usage = cache.usage();
  EXPECT_LE(usage.used_bytes + usage.kept_bytes, 14 * kMib);
  cache.give_back(d, 2 * kMib);
  cache.give_back(e, 11 * kMib);
}

TEST(BlockCache, UnmapsWhatWasNotNeededSinceThePreviousCall) {
  BlockCache cache;
  void* const used = cache.take(2 * kMib);
  cache.give_back(cache.take(4 * kMib), 4 * kMib);
  cache.unmap_idle();
  EXPECT_EQ(cache.usage().kept_bytes, 4 * kMib);
  // One of four is needed in this period.
  cache.give_back(cache.take(1 * kMib), 1 * kMib);
  cache.unmap_idle();
  EXPECT_EQ(cache.usage().kept_bytes, 1 * kMib);
  EXPECT_EQ(cache.usage().peak_bytes, 3 * kMib);
  cache.unmap_idle();
  EXPECT_EQ(cache.usage().kept_bytes, 0u);
  cache.give_back(used, 2 * kMib);
}

TEST(BlockCache, TakesABlockOfAnotherCache) {
  BlockCache one;
  BlockCache other;
  other.give_back(one.take(4 * kMib), 4 * kMib);
  EXPECT_EQ(other.usage().used_bytes, 0u);
  EXPECT_EQ(other.usage().kept_bytes, 0u);  // it never had a block in use
}

TEST(BlockCache, IsReplacedByThatOfAnotherModule) {
  if (kMemoryIsChecked) GTEST_SKIP() << "the address sanitizer keeps freed memory apart";
  BlockCache other;
  BlockCache& own = block_cache();
  use_block_cache(other);
  FloatVector vector(1 << 20);
  EXPECT_EQ(other.usage().used_bytes, 4 * kMib);
  vector = FloatVector();
  EXPECT_EQ(other.usage().used_bytes, 0u);
  EXPECT_EQ(other.usage().kept_bytes, 4 * kMib);  // for the next vector of either module
  use_block_cache(own);
}

TEST(BlockCache, MayBeUsedByManyThreads) {
  BlockCache cache;
  std::vector<std::thread> threads;
  for (std::uint8_t mark = 1; mark <= 4; ++mark) {
    threads.emplace_back([&cache, mark] {
      for (std::size_t i = 0; i < 200; ++i) {
        const std::size_t size = (1 + i % 3) * kMib;
        auto* const bytes = static_cast<std::uint8_t*>(cache.take(size));
        bytes[0] = mark;
        bytes[size - 1] = mark;
        EXPECT_EQ(bytes[0], mark);
        EXPECT_EQ(bytes[size - 1], mark);
        cache.give_back(bytes, size);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(cache.usage().used_bytes, 0u);
  EXPECT_LE(cache.usage().kept_bytes, cache.usage().peak_bytes);
}

// A vector of a round uses the memory of the round before.
TEST(BlockCache, HoldsVectors) {
  if (kMemoryIsChecked) GTEST_SKIP() << "the address sanitizer keeps freed memory apart";
  const float* first = nullptr;
  {
    FloatVector values(kMib);
    first = values.data();
  }
  EXPECT_EQ(FloatVector(kMib - 1000).data(), first);
  EXPECT_NE(Bytes(kMib / 2).data(), nullptr);
}

}  // namespace
}  // namespace tributary
