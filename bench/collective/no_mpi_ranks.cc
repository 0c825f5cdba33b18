#include "bench/collective/mpi_ranks.h"

namespace tributary::bench {

Result<std::unique_ptr<MpiRanks>> open_mpi_ranks() {
  return Status(StatusCode::unsupported,
                {.what = "--transport mpi",
                 .expected = "a build with Open MPI",
                 .got = "one without",
                 .remedy = "install libopenmpi-dev and openmpi-bin, and build again"});
}

}  // namespace tributary::bench
