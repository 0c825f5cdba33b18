// The queue and the memory of one call of a codec on a device.
#pragma once

#include <memory>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/codec/cuda/device.h"

namespace tributary::TRIBUTARY_DEVICE {

// Owns its queue and all arrays that it returns; they are valid until it is destroyed. Use each by
// one thread at a time. Copies may still be in progress when a function returns: wait() before you
// read what was downloaded, and before host memory that takes part in a copy ends.
class Workspace {
 public:
  const Queue& queue() const { return queue_; }

  // Memory for `count` values, not initialised.
  template <typename T>
  Result<T*> array(std::size_t count) {
    TRIBUTARY_ASSIGN(void* const memory, allocate_bytes(count * sizeof(T)));
    memory_.emplace_back(memory);
    return static_cast<T*>(memory);
  }
  template <typename T>
  Result<std::remove_const_t<T>*> upload(std::span<T> host) {
    TRIBUTARY_ASSIGN(auto* const copy, array<std::remove_const_t<T>>(host.size()));
    TRIBUTARY_TRY(copy_to_device(queue_, host.data(), host.size_bytes(), copy));
    return copy;
  }
  template <typename T>
  Status download(const T* device, std::span<T> host) const {
    return copy_to_host(queue_, device, host.size_bytes(), host.data());
  }
  Status wait() const { return queue_.wait(); }

 private:
  struct Free {
    void operator()(void* memory) const { free_bytes(memory); }
  };

  friend class Workspaces;
  explicit Workspace(Queue queue) : queue_(std::move(queue)) {}

  Queue queue_;
  std::vector<std::unique_ptr<void, Free>> memory_;
};

// The workspaces of a device. Thread-safe.
class Workspaces {
 public:
  Result<Workspace> take() {
    TRIBUTARY_ASSIGN(Queue queue, Queue::make());
    return Workspace(std::move(queue));
  }
};

}  // namespace tributary::TRIBUTARY_DEVICE
