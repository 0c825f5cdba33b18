// The description of a closed loop of the planner in virtual time: the federation, its links over
// time, and what the planner cannot know. It is read from a TOML file
// (docs/planner_closed_loop.md).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "coordinator/closed_loop/truth/link_line.h"
#include "core/base/status.h"
#include "core/sim/scenario/scenario.h"
#include "schemas/frame_generated.h"

namespace tributary {

// Steps that are drawn, each value log-uniform from its range.
struct RandomSteps {
  Span seconds = {5, 40};
  Span rate_mbit_s = {1, 100};
  Span delay_ms = {1, 50};
};

// The links of all agents in one direction, or among themselves.
struct PlanLinkSettings {
  // Drawn once per agent. Unused if the links have steps.
  Span rate_mbit_s = {100, 100};
  Span delay_ms = {5, 5};
  std::vector<LinkStep> steps = {};  // repeated
  std::optional<RandomSteps> random = {};
  // Factor of all rates of an agent's links, drawn once per agent.
  Span factor = {1, 1};
  bool staggered = false;  // whether each agent begins at a place of its own in the steps
};

// The deviations of the truth from the inputs of the planner.
struct HiddenSettings {
  // Standard deviations of logarithms. A factor is drawn once per run.
  double codec_time = 0.3;        // CPU time of each codec
  double payload_size = 0.2;      // payload size of codecs whose size depends on the values
  double collective_time = 0.15;  // exchange time by each collective
  double device_report = 0.1;     // device speeds, as agents report them
  double round_noise = 0.05;      // exchange time of each round
  // Share of rounds that are slowed down, and the range of their factor.
  double hiccups = 0.02;
  Span hiccup = {1.2, 3};
  Span overhead_ms = {2, 10};  // of every round, beside training and exchange
};

// The choice of the rounds before the first decision. Defaults are those of a job that names none.
struct FirstChoice {
  std::string codec = {};  // empty: the planner's first codec
  wire::Collective collective = wire::Collective::star;
  std::uint64_t bucket_values = 1u << 16;
};

struct PlanScenario {
  std::string name;
  std::string about;
  std::uint32_t agents = 4;
  std::uint64_t values = 101'770;
  double goal = 300;            // sum of the rounds' gains at which a run ends
  double limit_s = 20'000;      // virtual time after which a run ends without its goal
  Span training_ms = {40, 60};  // drawn once per agent
  // Whether agents train for the next round while the results of peers are uploaded.
  bool train_ahead = true;
  double cpu_slowdown = 1;  // CPU time of an agent relative to the coordinator's machine
  // Whether only a call with --full runs the scenario.
  bool full = false;
  FirstChoice first;
  // Limits of the planner and of fixed choices; empty: no limit.
  std::vector<std::string> plan_codecs = {};
  std::vector<wire::Collective> plan_collectives = {};

  PlanLinkSettings uplinks;
  std::optional<PlanLinkSettings> downlinks = {};  // empty: as the uplinks
  // The network among the agents. Empty: agents reach one another over their uplinks and downlinks.
  std::optional<PlanLinkSettings> peers = {};
  bool peers_reachable = true;
  double coordinator_mbit_s = 0;  // the coordinator's own link; 0: no limit

  // The last agents, whose uplinks and downlinks have this factor of the rate.
  std::uint32_t slow_agents = 0;
  double slow_factor = 0.1;
  // The last agents, which are present and absent in turns.
  std::uint32_t visitors = 0;
  Span present_s = {20, 40};
  Span absent_s = {10, 20};

  HiddenSettings hidden;
};

// `origin` names the text in errors, and the trace files that it names are looked up relative to
// it. Both return corrupt_data for text that is not TOML, and invalid_argument for a value out of
// range and for an unknown key, with the nearest known key. read_plan_scenario() also returns
// not_found and io_error.
Result<PlanScenario> parse_plan_scenario(std::string_view text, std::string_view origin);
Result<PlanScenario> read_plan_scenario(const std::string& path);

// The status `cancelled` of a run that was stopped.
Status stopped_run(const PlanScenario& scenario);

}  // namespace tributary
