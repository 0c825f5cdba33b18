// Device memory of vectors that have ended, for later ones of the same size: an update on the
// device has the size of the model in every round.
//
// Thread-safe. It keeps at most kBlocksMax blocks, and frees them if an allocation fails. Without
// keeps_memory() it keeps none, so every vector is an allocation of its exact size.
#pragma once

#include <cstddef>
#include <mutex>
#include <utility>
#include <vector>

#include "core/codec/cuda/arena.h"
#include "core/codec/cuda/scratch.h"

namespace tributary::TRIBUTARY_DEVICE {

class VectorMemory {
 public:
  // An update and its sum with the residual.
  static constexpr std::size_t kBlocksMax = 2;

  Result<void*> take(std::size_t bytes) {
    {
      const std::lock_guard lock(mutex_);
      for (auto block = blocks_.begin(); block != blocks_.end(); ++block) {
        if (block->bytes != bytes) continue;
        void* const memory = block->memory.release();
        blocks_.erase(block);
        return memory;
      }
    }
    Result<void*> memory = allocate_bytes(bytes);
    if (memory.ok()) return memory;
    {
      const std::lock_guard lock(mutex_);
      if (blocks_.empty()) return memory;
      blocks_.clear();
    }
    return allocate_bytes(bytes);
  }
  // No work that uses the memory may be unfinished.
  void give_back(void* memory, std::size_t bytes) {
    DeviceBlock block(memory);
    if (block == nullptr || !keeps_memory()) return;
    const std::lock_guard lock(mutex_);
    if (blocks_.size() == kBlocksMax) blocks_.erase(blocks_.begin());
    blocks_.push_back({.memory = std::move(block), .bytes = bytes});
  }

 private:
  struct Block {
    DeviceBlock memory;
    std::size_t bytes;
  };

  std::mutex mutex_;
  std::vector<Block> blocks_;  // the oldest first
};

}  // namespace tributary::TRIBUTARY_DEVICE
