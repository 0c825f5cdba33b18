#include "bench/collective/mpi_ranks.h"

#include <mpi.h>

#include <utility>

#include "core/net/mpi/mpi_error.h"
#include "core/net/mpi/mpi_mesh.h"

namespace tributary::bench {
namespace {

class OpenMpiRanks final : public MpiRanks {
 public:
  explicit OpenMpiRanks(std::unique_ptr<MpiSession> session) : session_(std::move(session)) {}

  std::uint32_t rank() const override { return session_->rank(); }
  std::uint32_t size() const override { return session_->size(); }
  Result<std::unique_ptr<Transport>> open_mesh(const Clock& clock,
                                               std::chrono::milliseconds patience) override {
    TRIBUTARY_ASSIGN(
        std::unique_ptr<PeerTransport> mesh,
        open_mpi_mesh(*session_, {.open_max = patience, .leave_max = patience}, clock));
    return std::unique_ptr<Transport>(std::move(mesh));
  }
  Status barrier() override { return mpi_status(MPI_Barrier(MPI_COMM_WORLD), "MPI_Barrier"); }
  Status all_reduce(FloatVector& update) override {
    return mpi_status(MPI_Allreduce(MPI_IN_PLACE, update.data(), static_cast<int>(update.size()),
                                    MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD),
                      "MPI_Allreduce");
  }

 private:
  const std::unique_ptr<MpiSession> session_;
};

}  // namespace

Result<std::unique_ptr<MpiRanks>> open_mpi_ranks() {
  TRIBUTARY_ASSIGN(std::unique_ptr<MpiSession> session, MpiSession::open());
  return std::unique_ptr<MpiRanks>(std::make_unique<OpenMpiRanks>(std::move(session)));
}

}  // namespace tributary::bench
