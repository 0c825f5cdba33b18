// tributary-agent for mpirun: one agent per rank, which can reach its peers over MPI. It is a
// separate program, so that the normal agent does not depend on MPI (docs/mpi.md).
#include <cstdlib>
#include <iostream>

#include "core/base/exit_codes.h"
#include "core/net/mpi/mpi_port.h"
#include "core/service/stop_signals.h"
#include "edge_agent/program.h"
#include "edge_agent/rank_words.h"

namespace tributary {
namespace {

AgentProgram program() {
  return {.name = "tributary-agent-mpi",
          .details =
              "mpirun starts it once per rank. \"%r\" in an argument is the rank: each rank needs "
              "its own join\nfile and journal. With peers.transport=mpi the ranks exchange updates "
              "over MPI, unencrypted.",
          .examples =
              "  mpirun -n 4 tributary-agent-mpi --join agent-%r.join -s journal.file=agent-%r.db "
              "\\\n      -s peers.transport=mpi --exit-when-done\n"
              "  mpirun -n 4 tributary-agent-mpi --config agent-%r.toml"};
}

int run(int argc, char** argv) {
  const Result<std::uint32_t> rank =
      rank_from_mpirun([](const char* name) { return std::getenv(name); });
  std::vector<std::string> words = {argv, argv + argc};
  if (!rank.ok() && !asks_for_answer(words)) {
    std::cerr << program().name << ": " << rank.status().text() << std::endl;
    return kExitUsage;
  }
  if (rank.ok()) words = with_rank(words, *rank);
  std::vector<char*> own;
  for (std::string& word : words) own.push_back(word.data());
  own.push_back(nullptr);
  std::unique_ptr<MpiSession> session;  // must outlive the agent
  return agent_main(program(), argc, own.data(),
                    [&session](const Clock& clock) -> Result<std::unique_ptr<PeerPort>> {
                      // A random number distinguishes this run from earlier ones on the same hosts.
                      TRIBUTARY_ASSIGN(const std::uint64_t run, draw_incarnation());
                      TRIBUTARY_ASSIGN(session, MpiSession::open());
                      return open_mpi_port(*session, {.run = run}, clock);
                    });
}

}  // namespace
}  // namespace tributary

int main(int argc, char** argv) {
  // Signals are blocked before any thread starts, so that no other thread receives them. MPI's
  // library starts threads.
  tributary::StopSignals::block();
  return tributary::run(argc, argv);
}
