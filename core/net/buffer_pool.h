// Keeps buffers for reuse instead of freeing them. On a fast network the kernel needs as much time
// to clear fresh pages as the receiver needs to fill them.
//
// The caller must not use a buffer after share(). Nothing fails except allocation. take() looks
// through at most 256 buffers and holds a mutex meanwhile.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <vector>

#include "core/base/bytes/bytes.h"
#include "core/net/shared_slice.h"

namespace tributary {

// Thread-safe. Slices of its buffers may outlive the pool: each holds the cache alive. The pool
// keeps at most `bytes_max` bytes and 256 free buffers.
class BufferPool {
 public:
  explicit BufferPool(std::size_t bytes_max) : cache_(std::make_shared<Cache>(bytes_max)) {}

  // Returns a buffer of exactly `bytes` bytes. Its content is undefined.
  Bytes take(std::size_t bytes) { return cache_->take(bytes); }
  // Passes a buffer on as a slice. The buffer returns to the pool when its last slice is destroyed,
  // on whichever thread that happens.
  SharedSlice share(Bytes bytes) {
    const auto borrowed = std::make_shared<const Borrowed>(cache_, std::move(bytes));
    return {borrowed, borrowed->bytes()};
  }

 private:
  class Cache {
   public:
    explicit Cache(std::size_t bytes_max) : bytes_max_(bytes_max) {}

    Bytes take(std::size_t bytes) {
      Bytes found;
      {
        const std::lock_guard lock(mutex_);
        for (std::size_t i = free_.size(); i-- > 0;) {
          if (free_[i].capacity() < bytes || free_[i].capacity() > 2 * bytes + kSmallBytes) {
            continue;
          }
          found.swap(free_[i]);
          free_.erase(free_.begin() + static_cast<std::ptrdiff_t>(i));
          bytes_ -= found.capacity();
          break;
        }
      }
      found.resize(bytes);
      return found;
    }

    void give_back(Bytes bytes) {
      if (bytes.capacity() < kSmallBytes) return;
      const std::lock_guard lock(mutex_);
      if (bytes_ + bytes.capacity() > bytes_max_ || free_.size() >= kBuffersMax) return;
      bytes_ += bytes.capacity();
      free_.push_back(std::move(bytes));
    }

   private:
    // Smaller buffers are left to the allocator.
    static constexpr std::size_t kSmallBytes = 16u << 10;
    static constexpr std::size_t kBuffersMax = 256;

    const std::size_t bytes_max_;
    std::mutex mutex_;
    std::vector<Bytes> free_;
    std::size_t bytes_ = 0;
  };

  class Borrowed {
   public:
    Borrowed(std::shared_ptr<Cache> cache, Bytes bytes)
        : cache_(std::move(cache)), bytes_(std::move(bytes)) {}
    Borrowed(const Borrowed&) = delete;
    Borrowed& operator=(const Borrowed&) = delete;
    ~Borrowed() { cache_->give_back(std::move(bytes_)); }
    ByteSpan bytes() const { return bytes_; }

   private:
    const std::shared_ptr<Cache> cache_;
    Bytes bytes_;
  };

  std::shared_ptr<Cache> cache_;
};

}  // namespace tributary
