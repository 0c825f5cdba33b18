#include "core/base/bytes/block_cache.h"

#include <sys/mman.h>

#include <algorithm>
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

}  // namespace

BlockCache::~BlockCache() { unmap_until(0); }

void* BlockCache::take(std::size_t bytes) {
  const std::size_t size = rounded(bytes);
  const std::scoped_lock lock(mutex_);
  std::uint8_t* address = nullptr;
  if (const auto range = smallest_of_at_least(size); range != kept_.end()) {
    // The end of the range, so that the rest keeps its address.
    range->second -= size;
    address = range->first + range->second;
    usage_.kept_bytes -= size;
    idle_bytes_ = std::min(idle_bytes_, usage_.kept_bytes);
    if (range->second == 0) kept_.erase(range);
  } else {
    unmap_until(difference_or_0(usage_.peak_bytes, usage_.used_bytes + size));
    address = map_range(size);
  }
  usage_.used_bytes += size;
  usage_.peak_bytes = std::max(usage_.peak_bytes, usage_.used_bytes);
  return address;
}

void BlockCache::give_back(void* block, std::size_t bytes) {
  const std::size_t size = rounded(bytes);
  const std::scoped_lock lock(mutex_);
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
    if (range->second < size) continue;
    if (smallest == kept_.end() || range->second < smallest->second) smallest = range;
  }
  return smallest;
}

void BlockCache::keep(std::uint8_t* address, std::size_t size) {
  usage_.kept_bytes += size;
  const auto next = kept_.lower_bound(address);
  if (next != kept_.end() && address + size == next->first) {
    size += next->second;
    kept_.erase(next);
  }
  const auto after = kept_.lower_bound(address);
  if (after != kept_.begin()) {
    const auto before = std::prev(after);
    if (before->first + before->second == address) {
      before->second += size;
      return;
    }
  }
  kept_.emplace_hint(after, address, size);
}

// Ends of the largest ranges, for few calls of the kernel.
void BlockCache::unmap_until(std::size_t kept_max) {
  while (usage_.kept_bytes > kept_max) {
    const auto largest = std::ranges::max_element(
        kept_, {}, [](const Ranges::value_type& range) { return range.second; });
    const std::size_t size = std::min(largest->second, usage_.kept_bytes - kept_max);
    largest->second -= size;
    unmap_range(largest->first + largest->second, size);
    usage_.kept_bytes -= size;
    if (largest->second == 0) kept_.erase(largest);
  }
  idle_bytes_ = std::min(idle_bytes_, usage_.kept_bytes);
}

BlockCache& block_cache() {
  // Never destroyed: static objects may still own vectors when it would be.
  static BlockCache& cache = *new BlockCache;
  return cache;
}

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
