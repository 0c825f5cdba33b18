// The process's use of MPI, from initialization to finalization. A program opens it once, and it
// outlives all meshes over MPI. Only one thread at a time may call it or its meshes; the thread may
// change.
//
// MPI can only be finalized by all ranks together. A process that has given up on a transfer cannot
// do that. Its session then leaves MPI as it is, and mpirun ends the other ranks when this process
// exits.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>

#include "core/base/clock.h"
#include "core/base/status.h"

namespace tributary {

// Owns MPI's initialization. open() returns already_exists if MPI is initialized, and unsupported
// if MPI does not support threads.
class MpiSession {
 public:
  static Result<std::unique_ptr<MpiSession>> open();
  ~MpiSession();
  MpiSession(const MpiSession&) = delete;
  MpiSession& operator=(const MpiSession&) = delete;

  std::uint32_t rank() const { return rank_; }
  std::uint32_t size() const { return size_; }  // 1 without mpirun

  // Returns rank 0's `number` on every rank. All ranks call it together. Returns deadline_exceeded
  // if some rank has not called it within `patience`; MPI is then not finalized.
  Result<std::uint64_t> agree(std::uint64_t number, const Clock& clock,
                              std::chrono::milliseconds patience);

  // Keeps buffers that MPI may still read or write until the process ends, because MPI cannot
  // cancel the transfers. MPI is then not finalized.
  void abandon(std::shared_ptr<void> under_way);

 private:
  MpiSession(std::uint32_t rank, std::uint32_t size) : rank_(rank), size_(size) {}

  const std::uint32_t rank_;
  const std::uint32_t size_;
  bool abandoned_ = false;
};

}  // namespace tributary
