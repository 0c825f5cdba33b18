// Started by mpirun: GoogleTest's main() with a session of MPI around it.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "core/net/mpi/ranks_testing.h"

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  const auto session = tributary::MpiSession::open();
  if (!session.ok() || (*session)->size() < 2) {
    fmt::print(stderr, "{}\n",
               session.ok() ? "ranks: start with mpirun -n 4" : session.status().text());
    return 2;
  }
  tributary::ranks_testing::session = session->get();
  return RUN_ALL_TESTS();
}
