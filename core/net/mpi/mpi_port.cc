#include "core/net/mpi/mpi_port.h"

#include <fmt/format.h>

#include <utility>

#include "core/net/mesh/epoch_mesh.h"
#include "core/net/mesh/mpi_address.h"
#include "core/net/mpi/mpi_mesh.h"

namespace tributary {
namespace {

// MPI has fixed ranks for the life of the process. Each epoch is a group of them: EpochMeshes
// translates the members of an epoch to ranks and drops messages of other epochs.
class MpiPort final : public PeerPort {
 public:
  MpiPort(std::unique_ptr<PeerTransport> mesh, const MpiAddress& address, const Clock& clock)
      : address_(address), endpoint_(text_of(address)), meshes_(std::move(mesh), clock) {}

  const std::string& endpoint() const override { return endpoint_; }
  Result<std::unique_ptr<Transport>> open(const MeshOptions& options) override;

 private:
  Result<std::uint32_t> rank_of(const MeshMember& member) const;

  const MpiAddress address_;
  const std::string endpoint_;
  EpochMeshes meshes_;
};

Result<std::uint32_t> MpiPort::rank_of(const MeshMember& member) const {
  TRIBUTARY_ASSIGN(const MpiAddress address, parse_mpi_address(member.endpoint));
  if (address.run == address_.run) return address.rank;
  return Status(StatusCode::mismatch,
                {.what = "a peer's run of MPI",
                 .expected = fmt::format("{:016x}, as this one's", address_.run),
                 .got = fmt::format("{:016x}", address.run),
                 .remedy = "start all of the peers by one mpirun"});
}

Result<std::unique_ptr<Transport>> MpiPort::open(const MeshOptions& options) {
  if (options.keys) {
    return Status(StatusCode::unsupported, {.what = "peers over MPI",
                                            .expected = "no keys, because MPI encrypts nothing",
                                            .got = "a key pair"});
  }
  EpochMeshOptions made{.session = options.session,
                        .rank = options.rank,
                        .members = {},
                        .limits = options.limits,
                        .connect_max = options.connect_max};
  for (const MeshMember& member : options.members) {
    TRIBUTARY_ASSIGN(const std::uint32_t rank, rank_of(member));
    made.members.push_back(rank);
  }
  return meshes_.open(made);
}

// --- opening -------------------------------------------------------------------------------------

Status check(const MpiPortOptions& options, const MpiSession& session) {
  if (options.run == 0) {
    return Status(
        StatusCode::invalid_argument,
        {.what = "the number of a run of MPI", .expected = "one drawn at random", .got = "0"});
  }
  if (session.size() <= kMpiRanksMax) return {};
  return Status(StatusCode::unsupported, {.what = "peers over MPI",
                                          .expected = fmt::format("{} ranks at most", kMpiRanksMax),
                                          .got = fmt::format("{}", session.size())});
}

}  // namespace

Result<std::unique_ptr<PeerPort>> open_mpi_port(MpiSession& session, const MpiPortOptions& options,
                                                const Clock& clock) {
  TRIBUTARY_TRY(check(options, session));
  TRIBUTARY_ASSIGN(const std::uint64_t run, session.agree(options.run, clock, options.open_max));
  MpiMeshOptions mesh_options{.open_max = options.open_max, .leave_max = options.leave_max};
  mesh_options.limits.frame_bytes_max += kEpochTrailerBytes;
  mesh_options.limits.send_queue_bytes = options.send_queue_bytes;
  TRIBUTARY_ASSIGN(std::unique_ptr<PeerTransport> mesh,
                   open_mpi_mesh(session, mesh_options, clock));
  const MpiAddress address{.run = run, .rank = session.rank()};
  return std::unique_ptr<PeerPort>(std::make_unique<MpiPort>(std::move(mesh), address, clock));
}

}  // namespace tributary
