#include "core/service/stop_signals.h"
#include "edge_agent/program.h"

int main(int argc, char** argv) {
  // Signals are blocked before any thread starts, so that no other thread receives them. Loading a
  // trainer's library starts threads.
  tributary::StopSignals::block();
  const tributary::AgentProgram program = {
      .name = "tributary-agent",
      .details = "Connects to the coordinator, and continues from its journal after a restart.",
      .examples =
          "  tributary-agent --config agent.toml --join garage-01.join\n"
          "  tributary-agent -c agent.toml --check\n"
          "  tributary-agent -c agent.toml --set data.path=/data/digits"};
  return tributary::agent_main(program, argc, argv, tributary::without_mpi);
}
