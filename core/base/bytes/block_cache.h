// Memory of large vectors: models, residuals, payloads.
//
// A round needs vectors of about the same sizes as the round before. The kernel clears each page
// that it maps, which costs more than a codec does, so memory that was given back is kept for the
// next vectors. It never makes the process larger than it has been: memory in use and kept memory
// together are at most as large as the memory in use at its peak. Neighbours that are kept become
// one range, and a smaller vector takes a part of a range, so that sixteen vectors of a bucket and
// one of the whole model use the same memory in turn.
//
// Thread-safe. A block may be given back to another cache than the one that it was taken from, as
// happens if a trainer's library has its own copy of this code and keeps its cache.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

namespace tributary {

// Smaller blocks come from operator new.
inline constexpr std::size_t kLargeBlockBytes = std::size_t{1} << 20;

class BlockCache {
 public:
  struct Usage {
    std::size_t used_bytes = 0;  // taken and not given back, in whole steps of 64 KiB
    std::size_t kept_bytes = 0;
    std::size_t peak_bytes = 0;  // the largest used_bytes since the last unmap_idle()
  };

  BlockCache() = default;
  BlockCache(const BlockCache&) = delete;
  BlockCache& operator=(const BlockCache&) = delete;
  ~BlockCache();

  // At least this many bytes, aligned to a page, with any contents. Throws std::bad_alloc.
  void* take(std::size_t bytes);
  // The size is the one that take() was asked for. Allocates nothing, so it cannot fail.
  void give_back(void* block, std::size_t bytes) noexcept;
  // Unmaps as much as has been kept all the time since the previous call: after a job, everything.
  void unmap_idle();
  Usage usage() const;

 private:
  struct Range {
    std::uint8_t* address = nullptr;
    std::size_t size = 0;
  };
  using Ranges = std::vector<Range>;  // by address

  Ranges::iterator smallest_of_at_least(std::size_t size);
  void keep(std::uint8_t* address, std::size_t size);
  void unmap_until(std::size_t kept_max);

  mutable std::mutex mutex_;
  // No two are neighbours. take() makes place for all blocks that will be given back.
  Ranges kept_;
  std::size_t blocks_used_ = 0;  // taken and not given back
  Usage usage_;
  std::size_t idle_bytes_ = 0;  // the smallest kept_bytes since the last unmap_idle()
};

// The cache of this process's vectors.
BlockCache& block_cache();
// Makes another cache that of this copy of the code, for good. A library that an agent loads takes
// the agent's, so that memory of an update serves the agent's next vector. Call it before the
// library has vectors: blocks of its former cache may go to the new one.
void use_block_cache(BlockCache& cache);

}  // namespace tributary
