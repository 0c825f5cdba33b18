// MPI, for as long as a program uses it: at the rim, made once, and outliving all meshes over MPI.
// One thread at a time may be in it or in them; which one may change.
//
// MPI can be left only together. A program that has given up while messages of its own are still
// under way cannot do that: then the session's end leaves MPI as it is, and mpirun ends the other
// ranks when it sees this one go.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>

#include "core/base/clock.h"
#include "core/base/status.h"

namespace tributary {

class MpiSession {
 public:
  static Result<std::unique_ptr<MpiSession>> open();
  ~MpiSession();
  MpiSession(const MpiSession&) = delete;
  MpiSession& operator=(const MpiSession&) = delete;

  std::uint32_t rank() const { return rank_; }
  std::uint32_t size() const { return size_; }  // 1 without mpirun

  // The number that rank 0 says, at every rank. All call it together, and wait for one another for
  // so long.
  Result<std::uint64_t> agree(std::uint64_t number, const Clock& clock,
                              std::chrono::milliseconds patience);

  // Keeps what MPI may still read or write until the process ends, because MPI has no way to take
  // it back.
  void abandon(std::shared_ptr<void> under_way);

 private:
  MpiSession(std::uint32_t rank, std::uint32_t size) : rank_(rank), size_(size) {}

  const std::uint32_t rank_;
  const std::uint32_t size_;
  bool abandoned_ = false;
};

}  // namespace tributary
