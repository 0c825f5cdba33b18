// The ranks that mpirun has started, if this build supports MPI: their mesh for our collectives,
// and MPI's own all-reduce for comparison. All calls come from the thread that opened the ranks.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>

#include "core/base/bytes/bytes.h"
#include "core/base/clock.h"
#include "core/base/status.h"
#include "core/net/transport.h"

namespace tributary::bench {

class MpiRanks {
 public:
  virtual ~MpiRanks() = default;

  virtual std::uint32_t rank() const = 0;
  virtual std::uint32_t size() const = 0;
  // Ranks wait for one another for so long, when the mesh is opened and when it is left.
  virtual Result<std::unique_ptr<Transport>> open_mesh(const Clock& clock,
                                                       std::chrono::milliseconds patience) = 0;
  virtual Status barrier() = 0;
  virtual Status all_reduce(FloatVector& update) = 0;
};

// Fails with unsupported in a build without MPI.
Result<std::unique_ptr<MpiRanks>> open_mpi_ranks();

}  // namespace tributary::bench
