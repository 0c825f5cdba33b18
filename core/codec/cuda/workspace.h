// The queue and the memory that a call of a codec uses on a device, and the pool of them.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/codec/cuda/scratch.h"

namespace tributary::TRIBUTARY_DEVICE {

class Workspaces;

// Borrows a queue and memory of the pool for one call. All arrays that it returns are valid until
// it is destroyed. Use each by one thread at a time. Copies may still be in progress when a
// function returns: wait() before you read what was downloaded. An upload has read its host memory
// when it returns.
class Workspace {
 public:
  Workspace(Workspace&& other) noexcept
      : pool_(other.pool_), scratch_(std::exchange(other.scratch_, nullptr)) {}
  Workspace& operator=(Workspace&&) = delete;
  inline ~Workspace();

  const Queue& queue() const { return scratch_->queue(); }

  // Memory for `count` values, not initialised.
  template <typename T>
  Result<T*> array(std::size_t count) {
    TRIBUTARY_ASSIGN(void* const memory, scratch_->take(count * sizeof(T)));
    return static_cast<T*>(memory);
  }
  template <typename T>
  Result<std::remove_const_t<T>*> upload(std::span<T> host) {
    TRIBUTARY_ASSIGN(auto* const copy, array<std::remove_const_t<T>>(host.size()));
    TRIBUTARY_TRY(scratch_->upload(host.data(), host.size_bytes(), copy));
    return copy;
  }
  template <typename T>
  Status download(const T* device, std::span<T> host) const {
    return scratch_->download(device, host.size_bytes(), host.data());
  }
  Status wait() const { return scratch_->wait(); }

 private:
  friend class Workspaces;
  Workspace(Workspaces& pool, std::unique_ptr<Scratch> scratch)
      : pool_(&pool), scratch_(std::move(scratch)) {}

  Workspaces* pool_;
  std::unique_ptr<Scratch> scratch_;  // null: moved from
};

// The workspaces of a device. Thread-safe. It outlives all workspaces.
class Workspaces {
 public:
  // Calls that run at the same time. Copies of one overlap kernels of another; more than two of
  // each kind gain nothing, and every workspace keeps memory.
  static constexpr std::size_t kWorkspacesMax = 4;

  // Blocks while kWorkspacesMax are in use, so a call takes one at a time.
  Result<Workspace> take() {
    std::unique_lock lock(mutex_);
    returned_.wait(lock, [this] { return in_use_ < kWorkspacesMax; });
    ++in_use_;
    std::unique_ptr<Scratch> scratch;
    if (!idle_.empty()) {
      scratch = std::move(idle_.back());
      idle_.pop_back();
    }
    lock.unlock();
    if (scratch == nullptr) {
      Result<std::unique_ptr<Scratch>> made = Scratch::make();
      if (!made.ok()) {
        give_back(nullptr);
        return std::move(made).status();
      }
      scratch = std::move(*made);
    }
    return Workspace(*this, std::move(scratch));
  }

 private:
  friend class Workspace;
  void give_back(std::unique_ptr<Scratch> scratch) {
    {
      const std::lock_guard lock(mutex_);
      --in_use_;
      if (scratch != nullptr) idle_.push_back(std::move(scratch));
    }
    returned_.notify_one();
  }

  std::mutex mutex_;
  std::condition_variable returned_;
  std::size_t in_use_ = 0;
  std::vector<std::unique_ptr<Scratch>> idle_;
};

inline Workspace::~Workspace() {
  if (scratch_ == nullptr) return;
  scratch_->reset();
  pool_->give_back(std::move(scratch_));
}

}  // namespace tributary::TRIBUTARY_DEVICE
