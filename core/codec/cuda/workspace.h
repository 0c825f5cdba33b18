// The queue and the memory that a call of a codec uses on a device, and the pool of them.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/codec/cuda/scratch.h"
#include "core/codec/cuda/stand_ins.h"
#include "core/codec/cuda/vector_memory.h"

namespace tributary::TRIBUTARY_DEVICE {

// The idle parts of a pool, and the number of those in use. Thread-safe. The pool and all its
// workspaces own it, so a workspace may be destroyed after its pool.
class ScratchPool {
 public:
  // Blocks while `most` are in use.
  Result<std::unique_ptr<Scratch>> take(std::size_t most) {
    std::unique_lock lock(mutex_);
    returned_.wait(lock, [&] { return in_use_ < most; });
    ++in_use_;
    if (!idle_.empty()) {
      std::unique_ptr<Scratch> scratch = std::move(idle_.back());
      idle_.pop_back();
      return Result<std::unique_ptr<Scratch>>(std::move(scratch));
    }
    lock.unlock();
    Result<std::unique_ptr<Scratch>> made = Scratch::make();
    if (!made.ok()) give_back(nullptr);
    return made;
  }
  void give_back(std::unique_ptr<Scratch> scratch) {
    {
      const std::lock_guard lock(mutex_);
      --in_use_;
      if (scratch != nullptr) idle_.push_back(std::move(scratch));
    }
    returned_.notify_one();
  }
  StandIns& stand_ins() { return stand_ins_; }
  VectorMemory& vectors() { return vectors_; }

 private:
  std::mutex mutex_;
  std::condition_variable returned_;
  std::size_t in_use_ = 0;
  std::vector<std::unique_ptr<Scratch>> idle_;
  StandIns stand_ins_;
  VectorMemory vectors_;
};

// Borrows a queue and memory of the pool for one call. All arrays that it returns are valid until
// it is destroyed. Use each by one thread at a time. Copies may still be in progress when a
// function returns: wait() before you read what was downloaded. An upload has read its host memory
// when it returns. Host memory that stands for values on the device is not copied: an upload
// returns those values, which the caller must not change, and a download copies to them, unless
// target() has returned them.
class Workspace {
 public:
  Workspace(Workspace&& other) noexcept = default;
  Workspace& operator=(Workspace&&) = delete;
  ~Workspace() {
    if (scratch_ == nullptr) return;
    scratch_->reset();
    pool_->give_back(std::move(scratch_));
  }

  const Queue& queue() const { return scratch_->queue(); }

  // Memory for `count` values, not initialised.
  template <typename T>
  Result<T*> array(std::size_t count) {
    TRIBUTARY_ASSIGN(void* const memory, scratch_->take(count * sizeof(T)));
    return static_cast<T*>(memory);
  }
  template <typename T>
  Result<std::remove_const_t<T>*> upload(std::span<T> host) {
    using Value = std::remove_const_t<T>;
    void* const there = pool_->stand_ins().find(host.data(), host.size_bytes());
    if (there != nullptr && is_aligned(there)) return static_cast<Value*>(there);
    TRIBUTARY_ASSIGN(auto* const copy, array<Value>(host.size()));
    TRIBUTARY_TRY(there != nullptr ? copy_on_device(queue(), there, host.size_bytes(), copy)
                                   : upload_to(host, copy));
    return copy;
  }
  // Uploads to an array of this workspace, after all earlier work in the queue.
  template <typename T>
  Status upload_to(std::span<T> host, std::remove_const_t<T>* device) {
    return scratch_->upload(host.data(), host.size_bytes(), device);
  }
  // Where a kernel writes what download() copies to `host`: an array, or the values on the device
  // for which `host` stands. These then have any values after an error.
  template <typename T>
  Result<T*> target(std::span<T> host) {
    void* const there = pool_->stand_ins().find(host.data(), host.size_bytes());
    if (there != nullptr && is_aligned(there)) return static_cast<T*>(there);
    return array<T>(host.size());
  }
  template <typename T>
  Status download(const T* device, std::span<T> host) const {
    if (void* const there = pool_->stand_ins().find(host.data(), host.size_bytes())) {
      if (there == device) return {};
      return copy_on_device(queue(), device, host.size_bytes(), there);
    }
    return scratch_->download(device, host.size_bytes(), host.data());
  }
  Status wait() const { return scratch_->wait(); }

 private:
  friend class Workspaces;

  // Kernels load 16 bytes at a time.
  static bool is_aligned(const void* device) {
    return reinterpret_cast<std::uintptr_t>(device) % 16 == 0;
  }

  Workspace(std::shared_ptr<ScratchPool> pool, std::unique_ptr<Scratch> scratch)
      : pool_(std::move(pool)), scratch_(std::move(scratch)) {}

  std::shared_ptr<ScratchPool> pool_;
  std::unique_ptr<Scratch> scratch_;  // null: moved from
};

// The workspaces of a device. Thread-safe.
class Workspaces {
 public:
  // Calls that run at the same time. Copies of one overlap kernels of another; more than two of
  // each kind gain nothing, and every workspace keeps memory.
  static constexpr std::size_t kWorkspacesMax = 4;

  // Blocks while kWorkspacesMax are in use, so a call takes one at a time.
  Result<Workspace> take() {
    TRIBUTARY_ASSIGN(std::unique_ptr<Scratch> scratch, pool_->take(kWorkspacesMax));
    return Workspace(pool_, std::move(scratch));
  }
  StandIns& stand_ins() const { return pool_->stand_ins(); }
  VectorMemory& vectors() const { return pool_->vectors(); }

 private:
  const std::shared_ptr<ScratchPool> pool_ = std::make_shared<ScratchPool>();
};

}  // namespace tributary::TRIBUTARY_DEVICE
