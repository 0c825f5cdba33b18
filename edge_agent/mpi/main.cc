// tributary-agent for mpirun: the same agent, one to a rank, whose peers may be reached over MPI. A
// program of its own, so that the other one needs no MPI (docs/mpi.md).
#include <cstdlib>
#include <iostream>

#include "core/base/exit_codes.h"
#include "core/net/mpi/mpi_port.h"
#include "core/service/stop_signals.h"
#include "edge_agent/program.h"
#include "edge_agent/rank_words.h"

namespace tributary {
namespace {

constexpr const char* kProgram = "tributary-agent-mpi";

int run(int argc, char** argv) {
  const Result<std::uint32_t> rank =
      rank_from_mpirun([](const char* name) { return std::getenv(name); });
  if (!rank.ok()) {
    std::cerr << kProgram << ": " << rank.status().text() << std::endl;
    return kExitUsage;
  }
  std::vector<std::string> words = with_rank({argv, argv + argc}, *rank);
  std::vector<char*> own;
  for (std::string& word : words) own.push_back(word.data());
  own.push_back(nullptr);
  std::unique_ptr<MpiSession> session;  // outlives the agent
  return agent_main(kProgram, argc, own.data(),
                    [&session](const Clock& clock) -> Result<std::unique_ptr<PeerPort>> {
                      TRIBUTARY_ASSIGN(const std::uint64_t run, draw_incarnation());
                      TRIBUTARY_ASSIGN(session, MpiSession::open());
                      return open_mpi_port(*session, {.run = run}, clock);
                    });
}

}  // namespace
}  // namespace tributary

int main(int argc, char** argv) {
  // Before there is a thread that could be hit by them: MPI's library starts some.
  tributary::StopSignals::block();
  return tributary::run(argc, argv);
}
