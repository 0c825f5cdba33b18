// tributary-bench-in-network: agents that keep an aggregator busy, and the XDP program by itself.
// bench/in_network.py starts it and the aggregators, and compares.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>

#include "bench/in_network/agents.h"
#include "bench/in_network/xdp_run.h"
#include "bench/rank.h"

namespace tributary::bench {
namespace {

struct InNetworkArguments {
  AgentsSettings agents;
  std::string aggregator;
  std::string group;
  std::string passing;  // device with a passing program
  std::uint32_t phases = 5000;
};

Status measure_agents(InNetworkArguments& arguments) {
  TRIBUTARY_ASSIGN(arguments.agents.aggregator, UdpAddress::parse(arguments.aggregator));
  if (!arguments.group.empty()) {
    TRIBUTARY_ASSIGN(arguments.agents.group, UdpAddress::parse(arguments.group));
  }
  std::unique_ptr<PassingProgram> passing;
  if (!arguments.passing.empty()) {
    TRIBUTARY_ASSIGN(passing, attach_passing_program(arguments.passing));
  }
  TRIBUTARY_ASSIGN(const AgentsFigures figures, run_agents(arguments.agents));
  fmt::print(R"({{"began_s": [{:.6f}], "round_s": [{:.6f}], "contributions": {}, )"
             R"("repeats": {}, "window": {}, "cpu_s": {:.3f}}})"
             "\n",
             fmt::join(figures.began_s, ", "), fmt::join(figures.round_s, ", "),
             figures.contributions, figures.repeats, figures.window, figures.cpu_s);
  return {};
}

Status measure_xdp(const InNetworkArguments& arguments) {
  TRIBUTARY_ASSIGN(const XdpRun run, run_xdp(arguments.phases));
  fmt::print(R"({{"contribution_ns": {:.0f}, "result_ns": {:.0f}, "nothing_ns": {:.0f}}})"
             "\n",
             median_of(run.contribution_ns), median_of(run.result_ns), median_of(run.nothing_ns));
  return {};
}

void add_agents(CLI::App& app, InNetworkArguments& arguments) {
  AgentsSettings& agents = arguments.agents;
  app.add_option("--to", arguments.aggregator, "address and port of the aggregator")->required();
  app.add_option("--group", arguments.group, "multicast address and port of results (unicast)");
  app.add_option("--agents", agents.agents, "agents of the job (4)")->check(CLI::Range(1, 8));
  app.add_option("--first", agents.first, "first agent of this process (0)");
  app.add_option("--count", agents.count, "agents of this process (4)");
  app.add_option("--values", agents.values, "values of a bucket, a multiple of 1024 (1048576)")
      ->check(CLI::Range(1024u, 1u << 26));
  app.add_option("--slots", agents.slots, "slots of the job (256)");
  app.add_option("--window", agents.window, "largest window of chunks (128)");
  app.add_option("--timeout-ms", agents.timeout_ms_min, "least time-out of a packet (10)");
  app.add_flag("--segments,!--no-segments", agents.segments,
               "let the kernel cut and join datagrams (on)");
  app.add_option("--rounds", agents.rounds, "number of buckets (10)");
  app.add_option("--seconds", agents.seconds, "end after this time (no limit)");
  app.add_option("--passing", arguments.passing,
                 "attach an XDP program that does nothing to this device, which native XDP_TX\n"
                 "at the other end of a virtual link needs");
}

int run(int argc, char** argv) {
  InNetworkArguments arguments;
  CLI::App app("measures aggregators of sums in the network");
  app.require_subcommand(1);
  CLI::App* const agents = app.add_subcommand("agents", "exchange buckets, and check all sums");
  add_agents(*agents, arguments);
  CLI::App* const xdp = app.add_subcommand("xdp", "run the XDP program without a network");
  xdp->add_option("--phases", arguments.phases, "number of phases of four agents (5000)");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  const Status status = agents->parsed() ? measure_agents(arguments) : measure_xdp(arguments);
  if (status.ok()) return 0;
  fmt::print(stderr, "tributary-bench-in-network: {}\n", status.text());
  return 1;
}

}  // namespace
}  // namespace tributary::bench

int main(int argc, char** argv) { return tributary::bench::run(argc, argv); }
