#include "core/service/stop_signals.h"
#include "edge_agent/program.h"

int main(int argc, char** argv) {
  // Before there is a thread that could be hit by them: a trainer's library starts some.
  tributary::StopSignals::block();
  return tributary::agent_main("tributary-agent", argc, argv, tributary::without_mpi);
}
