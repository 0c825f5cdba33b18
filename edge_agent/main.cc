#include "core/service/stop_signals.h"
#include "edge_agent/program.h"

int main(int argc, char** argv) {
  // Signals are blocked before any thread starts, so that no other thread receives them. Loading a
  // trainer's library starts threads.
  tributary::StopSignals::block();
  return tributary::agent_main("tributary-agent", argc, argv, tributary::without_mpi);
}
