#include "core/base/bytes/block_cache.h"

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <iterator>
#include <new>

#include "core/base/bytes/bytes.h"
#include "core/base/memory_checked.h"

namespace tributary {
namespace {

constexpr std::align_val_t kSmallAlignment{64};

// A step that is a multiple of the page size of every machine.
constexpr std::size_t kStepBytes = 64 << 10;

std::size_t rounded(std::size_t bytes) {
  return (bytes + kStepBytes - 1) / kStepBytes * kStepBytes;
}

std::uint8_t* map_range(std::size_t size) {
  void* const range =
      ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (range == MAP_FAILED) throw std::bad_alloc();
  return static_cast<std::uint8_t*>(range);
}

void unmap_range(std::uint8_t* address, std::size_t size) { ::munmap(address, size); }

std::size_t difference_or_0(std::size_t a, std::size_t b) { return a > b ? a - b : 0; }

std::atomic<BlockCache*>& cache_in_use() {
  // Never destroyed: static objects may still own vectors when it would be.
  static std::atomic<BlockCache*> cache = new BlockCache;
  return cache;
}

}  // namespace

BlockCache::~BlockCache() { unmap_until(0); }

void* BlockCache::take(std::size_t bytes) {
  const std::size_t size = rounded(bytes);
  const std::scoped_lock lock(mutex_);
  if (const std::size_t needed = kept_.size() + blocks_used_ + 1; needed > kept_.capacity()) {
    kept_.reserve(2 * needed);
  }
  std::uint8_t* address = nullptr;
  if (const auto range = smallest_of_at_least(size); range != kept_.end()) {
    // The end of the range, so that the rest keeps its address.
    range->size -= size;
    address = range->address + range->size;
    usage_.kept_bytes -= size;
    idle_bytes_ = std::min(idle_bytes_, usage_.kept_bytes);
    if (range->size == 0) kept_.erase(range);
  } else {
    unmap_until(difference_or_0(usage_.peak_bytes, usage_.used_bytes + size));
    address = map_range(size);
  }
  ++blocks_used_;
  usage_.used_bytes += size;
  usage_.peak_bytes = std::max(usage_.peak_bytes, usage_.used_bytes);
  return address;
}

void BlockCache::give_back(void* block, std::size_t bytes) noexcept {
  const std::size_t size = rounded(bytes);
  const std::scoped_lock lock(mutex_);
  blocks_used_ = difference_or_0(blocks_used_, 1);
  usage_.used_bytes = difference_or_0(usage_.used_bytes, size);
  keep(static_cast<std::uint8_t*>(block), size);
  unmap_until(difference_or_0(usage_.peak_bytes, usage_.used_bytes));
}

void BlockCache::unmap_idle() {
  const std::scoped_lock lock(mutex_);
  unmap_until(usage_.kept_bytes - idle_bytes_);
  idle_bytes_ = usage_.kept_bytes;
  usage_.peak_bytes = usage_.used_bytes + usage_.kept_bytes;
}

BlockCache::Usage BlockCache::usage() const {
  const std::scoped_lock lock(mutex_);
  return usage_;
}

BlockCache::Ranges::iterator BlockCache::smallest_of_at_least(std::size_t size) {
  auto smallest = kept_.end();
  for (auto range = kept_.begin(); range != kept_.end(); ++range) {
    if (range->size < size) continue;
    if (smallest == kept_.end() || range->size < smallest->size) smallest = range;
  }
  return smallest;
}

// A block of another cache may find no place. It is unmapped then.
void BlockCache::keep(std::uint8_t* address, std::size_t size) {
  const auto after = std::ranges::lower_bound(kept_, address, {}, &Range::address);
  const bool joins_after = after != kept_.end() && address + size == after->address;
  if (after != kept_.begin()) {
    const auto before = std::prev(after);
    if (before->address + before->size == address) {
      usage_.kept_bytes += size;
      before->size += size;
      if (!joins_after) return;
      before->size += after->size;
      kept_.erase(after);
      return;
    }
  }
  if (joins_after) {
    usage_.kept_bytes += size;
    *after = {.address = address, .size = size + after->size};
  } else if (kept_.size() < kept_.capacity()) {
    usage_.kept_bytes += size;
    kept_.insert(after, {.address = address, .size = size});
  } else {
    unmap_range(address, size);
  }
}

// Ends of the largest ranges, for few calls of the kernel.
void BlockCache::unmap_until(std::size_t kept_max) {
  while (usage_.kept_bytes > kept_max) {
    const auto largest = std::ranges::max_element(kept_, {}, &Range::size);
    const std::size_t size = std::min(largest->size, usage_.kept_bytes - kept_max);
    largest->size -= size;
    unmap_range(largest->address + largest->size, size);
    usage_.kept_bytes -= size;
    if (largest->size == 0) kept_.erase(largest);
  }
  idle_bytes_ = std::min(idle_bytes_, usage_.kept_bytes);
}

BlockCache& block_cache() { return *cache_in_use(); }

void use_block_cache(BlockCache& cache) { cache_in_use() = &cache; }

void* allocate_block(std::size_t bytes) {
  // The address sanitizer must see each vector's memory freed.
  if (bytes < kLargeBlockBytes || kMemoryIsChecked) return ::operator new(bytes, kSmallAlignment);
  return block_cache().take(bytes);
}

void free_block(void* block, std::size_t bytes) {
  if (bytes < kLargeBlockBytes || kMemoryIsChecked) {
    ::operator delete(block, kSmallAlignment);
  } else {
    block_cache().give_back(block, bytes);
  }
}

}  // namespace tributary
