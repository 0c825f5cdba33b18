// Device memory that the arrays of one call after the other use, so that a job allocates nothing
// once it has encoded its largest bucket. Not thread-safe: one call at a time.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "core/codec/cuda/device.h"

namespace tributary::TRIBUTARY_DEVICE {

struct FreeDeviceMemory {
  void operator()(void* memory) const { free_bytes(memory); }
};
// An owned block of device memory.
using DeviceBlock = std::unique_ptr<void, FreeDeviceMemory>;

// Calls take memory from front to back. A call that needs more than there is gets an array of its
// own; the arena has the size of the largest call from the next one on.
class Arena {
 public:
  // The memory is valid until reset(), and aligned to kAlignment.
  Result<void*> take(std::size_t bytes) {
    if (bytes == 0) return nullptr;
    const std::size_t needed = rounded_up(bytes, kAlignment);
    const std::size_t begin = used_;
    used_ += needed;
    if (used_ <= size_) return static_cast<char*>(memory_.get()) + begin;
    TRIBUTARY_ASSIGN(void* const own, allocate_bytes(needed));
    extra_.emplace_back(own);
    return own;
  }

  // No work that uses the memory may be unfinished. If the device has too little memory for the
  // larger arena, calls go on with arrays of their own.
  void reset() {
    if (used_ > size_) {
      extra_.clear();
      memory_.reset();
      size_ = 0;
      const std::size_t needed = rounded_up(used_, kStep);
      if (Result<void*> memory = allocate_bytes(needed); memory.ok()) {
        memory_.reset(*memory);
        size_ = needed;
      }
    }
    used_ = 0;
  }

 private:
  static constexpr std::size_t kAlignment = 256;
  // The arena grows in steps of this size, so that buckets of nearly equal sizes do not make it
  // grow one after the other.
  static constexpr std::size_t kStep = 1u << 20;

  static constexpr std::size_t rounded_up(std::size_t bytes, std::size_t step) {
    return (bytes + step - 1) / step * step;
  }

  DeviceBlock memory_;
  std::size_t size_ = 0;
  std::size_t used_ = 0;  // of this call, with what exceeds the arena
  std::vector<DeviceBlock> extra_;
};

}  // namespace tributary::TRIBUTARY_DEVICE
