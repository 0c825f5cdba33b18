#include "core/net/mpi/mpi_session.h"

#include <fmt/format.h>
#include <mpi.h>

#include <thread>
#include <utility>
#include <vector>

#include "core/net/mpi/mpi_error.h"

namespace tributary {
namespace {

// MPI_Test is polled, because MPI has no wait with a time limit.
constexpr std::chrono::milliseconds kAskEvery{1};

}  // namespace

Result<std::unique_ptr<MpiSession>> MpiSession::open() {
  int before = 0;
  TRIBUTARY_TRY(mpi_status(MPI_Initialized(&before), "asking for MPI"));
  if (before != 0) {
    return Status(
        StatusCode::already_exists,
        {.what = "a session of MPI", .expected = "one per process", .got = "a second one"});
  }
  int provided = MPI_THREAD_SINGLE;
  TRIBUTARY_TRY(mpi_status(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &provided),
                           "starting MPI"));
  // One thread at a time calls MPI, but not always the same one.
  if (provided < MPI_THREAD_SERIALIZED) {
    MPI_Finalize();
    return Status(StatusCode::unsupported, {.what = "MPI in a program with threads",
                                            .expected = "MPI_THREAD_SERIALIZED",
                                            .got = fmt::format("level {}", provided),
                                            .remedy = "use an MPI that was built with threads"});
  }
  int rank = 0;
  int size = 1;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  TRIBUTARY_TRY(mpi_status(MPI_Comm_rank(MPI_COMM_WORLD, &rank), "asking for the rank"));
  TRIBUTARY_TRY(mpi_status(MPI_Comm_size(MPI_COMM_WORLD, &size), "asking for the ranks"));
  return std::unique_ptr<MpiSession>(
      new MpiSession(static_cast<std::uint32_t>(rank), static_cast<std::uint32_t>(size)));
}

MpiSession::~MpiSession() {
  if (!abandoned_) MPI_Finalize();
}

Result<std::uint64_t> MpiSession::agree(std::uint64_t number, const Clock& clock,
                                        std::chrono::milliseconds patience) {
  // On the heap: if the time limit passes, MPI may still write to it, and abandon() keeps it alive.
  const auto agreed = std::make_shared<std::uint64_t>(number);
  MPI_Request request = MPI_REQUEST_NULL;
  TRIBUTARY_TRY(
      mpi_status(MPI_Ibcast(agreed.get(), sizeof(*agreed), MPI_BYTE, 0, MPI_COMM_WORLD, &request),
                 "agreeing"));
  const auto deadline = clock.now() + patience;
  for (;;) {
    int done = 0;
    TRIBUTARY_TRY(mpi_status(MPI_Test(&request, &done, MPI_STATUS_IGNORE), "agreeing"));
    if (done != 0) return *agreed;
    if (clock.now() >= deadline) break;
    std::this_thread::sleep_for(kAskEvery);
  }
  abandon(agreed);
  return Status(StatusCode::deadline_exceeded,
                {.what = "agreeing with the other ranks of MPI",
                 .expected = fmt::format("all {} ranks", size_),
                 .got = "some ranks are missing",
                 .remedy = "every rank must run the same program with the same settings"});
}

void MpiSession::abandon(std::shared_ptr<void> under_way) {
  abandoned_ = true;
  // Never destroyed, on purpose: MPI may use the buffers until the process ends.
  static auto* const kept = new std::vector<std::shared_ptr<void>>;
  kept->push_back(std::move(under_way));
}

}  // namespace tributary
