// tributary sim plan: runs the planner in a closed loop over virtual links, beside every fixed
// choice in hindsight and an oracle.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/accept.h"
#include "cli/commands.h"
#include "cli/json.h"
#include "cli/text.h"
#include "coordinator/closed_loop/plan_runs.h"
#include "core/base/thread_pool.h"

namespace tributary {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::uint64_t kPlanSeedsMax = 100'000;
constexpr std::uint32_t kPlanThreadsMax = 256;

// The options. 0 threads stands for one per processor.
struct SimPlan {
  std::string scenario;
  PlanRunsRequest runs;
  std::uint32_t threads = 0;
  bool full = false;
  bool each = false;
  bool decisions = false;
};

Json choice_json(const PlanChoice& choice) {
  return {{"codec", choice.codec},
          {"collective", wire::EnumNameCollective(choice.collective)},
          {"ratio", choice.ratio},
          {"bucket_values", choice.bucket_values}};
}

std::string choice_text(const PlanChoice& choice) {
  return fmt::format("{} by {}", choice.codec, wire::EnumNameCollective(choice.collective));
}

Json fixed_json(const FixedResult& fixed) {
  Json json = choice_json(fixed.choice);
  json["s"] = fixed.seconds;
  return json;
}

Json decision_json(const LoopDecision& decision) {
  Json json = {{"round", decision.round}, {"at_s", decision.at_s}};
  json.update(choice_json(decision.choice));
  json["reason"] = decision.reason;
  return json;
}

double error_max_of(const PlanRun& run) {
  double most = 0;
  for (const Verified& verified : run.verified) most = std::max(most, verified.error());
  return most;
}

Json run_json(const SimPlan& command, const PlanRun& run) {
  Json json = {{"seed", run.seed},
               {"planner_s", run.planner.seconds},
               {"reached", run.planner.reached},
               {"rounds", run.planner.rounds},
               {"switches", run.planner.switches}};
  if (command.runs.hindsight) {
    json["best_fixed"] = fixed_json(run.hindsight.fixed.front());
    json["median_fixed_s"] = run.median_fixed_s();
    json["oracle_s"] = run.hindsight.oracle_s;
    json["to_best"] = run.to_best();
    json["to_oracle"] = run.planner.seconds / run.hindsight.oracle_s;
    json["verified"] = run.verified.size();
    json["verified_error_max"] = error_max_of(run);
  }
  if (command.each) {
    for (const FixedResult& fixed : run.hindsight.fixed) json["fixed"].push_back(fixed_json(fixed));
    for (const Verified& verified : run.verified) {
      Json played = choice_json(verified.choice);
      played["s"] = verified.hindsight_s;
      played["played_s"] = verified.played_s;
      json["played"].push_back(std::move(played));
    }
  }
  if (command.decisions) {
    json["decisions"] = Json::array();
    for (const LoopDecision& decision : run.planner.decisions) {
      json["decisions"].push_back(decision_json(decision));
    }
  }
  return json;
}

// The middle and the worst of all seeds.
struct PlanSummary {
  double to_best_median = 0;
  double to_best_worst = 0;
  double oracle_to_best_median = 0;
  double verified_error_median = 0;
  double verified_error_max = 0;
  std::uint64_t slower_than_median = 0;  // seeds in which the planner lost to the median choice
};

PlanSummary summary_of(const std::vector<PlanRun>& runs) {
  PlanSummary summary;
  std::vector<double> to_best;
  std::vector<double> oracles;
  std::vector<double> errors;
  for (const PlanRun& run : runs) {
    to_best.push_back(run.to_best());
    oracles.push_back(run.hindsight.oracle_s / run.best_fixed_s());
    for (const Verified& verified : run.verified) errors.push_back(verified.error());
    if (run.planner.seconds > run.median_fixed_s()) ++summary.slower_than_median;
  }
  summary.to_best_median = median_of(to_best);
  summary.to_best_worst = std::ranges::max(to_best);
  summary.oracle_to_best_median = median_of(oracles);
  summary.verified_error_median = median_of(errors);
  summary.verified_error_max = std::ranges::max(errors);
  return summary;
}

// Keys are public: programs read them.
Json report_json(const SimPlan& command, const PlanScenario& scenario,
                 const std::vector<PlanRun>& runs, double wall_s) {
  Json json = {{"scenario", scenario.name}, {"about", scenario.about},
               {"agents", scenario.agents}, {"values", scenario.values},
               {"goal", scenario.goal},     {"seed", command.runs.first_seed},
               {"seeds", runs.size()}};
  if (command.runs.hindsight) {
    const PlanSummary summary = summary_of(runs);
    json["fixed_choices"] = runs.front().hindsight.fixed.size();
    json["to_best_median"] = summary.to_best_median;
    json["to_best_worst"] = summary.to_best_worst;
    json["oracle_to_best_median"] = summary.oracle_to_best_median;
    json["slower_than_median_fixed"] = summary.slower_than_median;
    json["verified_error_median"] = summary.verified_error_median;
    json["verified_error_max"] = summary.verified_error_max;
  }
  json["wall_s"] = wall_s;
  json["runs"] = Json::array();
  for (const PlanRun& run : runs) json["runs"].push_back(run_json(command, run));
  return json;
}

std::string planner_table(const std::vector<PlanRun>& runs) {
  Table table({"seed", "planner", "rounds", "switches"});
  for (const PlanRun& run : runs) {
    table.add({count_text(run.seed), fmt::format("{:.1f} s", run.planner.seconds),
               count_text(run.planner.rounds), count_text(run.planner.switches)});
  }
  return table.text();
}

std::string hindsight_table(const std::vector<PlanRun>& runs) {
  Table table({"seed", "planner", "switches", "best fixed", "median fixed", "oracle",
               "planner/best", "best fixed choice"});
  for (const PlanRun& run : runs) {
    table.add({count_text(run.seed),
               fmt::format("{:.1f} s{}", run.planner.seconds, run.planner.reached ? "" : "*"),
               count_text(run.planner.switches), fmt::format("{:.1f} s", run.best_fixed_s()),
               fmt::format("{:.1f} s", run.median_fixed_s()),
               fmt::format("{:.1f} s", run.hindsight.oracle_s),
               fmt::format("{:.2f}", run.to_best()),
               choice_text(run.hindsight.fixed.front().choice)});
  }
  return table.text();
}

std::string report_text(const SimPlan& command, const PlanScenario& scenario,
                        const std::vector<PlanRun>& runs, double wall_s) {
  std::string text = fmt::format("{}: {}\n\n", scenario.name, scenario.about);
  text += command.runs.hindsight ? hindsight_table(runs) : planner_table(runs);
  if (std::ranges::any_of(runs, [](const PlanRun& run) { return !run.planner.reached; })) {
    text += "* stopped before the goal\n";
  }
  if (command.decisions) {
    for (const PlanRun& run : runs) {
      for (const LoopDecision& decision : run.planner.decisions) {
        text +=
            fmt::format("\nseed {}, round {} at {:.1f} s: {}\n  {}\n", run.seed, decision.round,
                        decision.at_s, choice_text(decision.choice), printable(decision.reason));
      }
    }
  }
  if (command.runs.hindsight) {
    const PlanSummary summary = summary_of(runs);
    text += fmt::format(
        "\nplanner / best fixed choice: median {:.2f}, worst {:.2f}; oracle {:.2f}\n"
        "hindsight against played rounds: error {:.1f} % in the median, at most {:.1f} %\n",
        summary.to_best_median, summary.to_best_worst, summary.oracle_to_best_median,
        100 * summary.verified_error_median, 100 * summary.verified_error_max);
  }
  return text + fmt::format("{} seeds in {:.1f} s\n", runs.size(), wall_s);
}

Status check_size(const SimPlan& command, const PlanScenario& scenario) {
  if (!scenario.full || command.full) return {};
  return Status(StatusCode::invalid_argument,
                {.what = command.scenario,
                 .expected = "--full, because a run of this scenario takes minutes",
                 .got = "no --full",
                 .remedy = "add --full; with --planner-only it takes seconds"});
}

Result<Answer> run(const SimPlan& command, World& world) {
  TRIBUTARY_ASSIGN(const PlanScenario scenario, read_plan_scenario(command.scenario));
  TRIBUTARY_TRY(check_size(command, scenario));
  PlanRunsRequest request = command.runs;
  request.threads = command.threads == 0 ? hardware_threads() : command.threads;
  request.progress = [&](std::uint64_t done, std::uint64_t total) {
    return world.progress.report(scenario.name, done, total);
  };
  const auto began = world.clock.now();
  TRIBUTARY_ASSIGN(const std::vector<PlanRun> runs, run_plan_seeds(scenario, request));
  const double wall_s = std::chrono::duration<double>(world.clock.now() - began).count();
  Answer answer;
  answer.text = report_text(command, scenario, runs, wall_s);
  answer.data = json_text(report_json(command, scenario, runs, wall_s));
  return answer;
}

}  // namespace

Command sim_plan_command() {
  const auto command = std::make_shared<SimPlan>();
  return {
      .noun = "sim",
      .verb = "plan",
      .summary = "run the planner in a closed loop over virtual links",
      .details =
          "The planner of the coordinator decides from what it would measure of virtual rounds,\n"
          "and its choices make the next rounds. The time to the scenario's goal is printed\n"
          "beside that of the best fixed choice in hindsight, of the median one, and of an oracle\n"
          "that always has the best choice of the moment. The same seed gives the same run.\n\n"
          "examples:\n"
          "  tributary sim plan tests/scenarios/plan/c1.toml --seeds 8\n"
          "  tributary sim plan tests/scenarios/plan/random.toml --seeds 200 --planner-only "
          "--json\n"
          "  tributary sim plan tests/scenarios/plan/thin.toml --seed 3 --decisions",
      .options = {{.name = "SCENARIO",
                   .value_name = "FILE",
                   .help = "scenario of links, a TOML file",
                   .accept = accept_file(command->scenario),
                   .required = true},
                  {.name = "--seed",
                   .value_name = "N",
                   .help = "seed of links, factors and noise (1)",
                   .accept = accept_count<std::uint64_t>(command->runs.first_seed, 0)},
                  {.name = "--seeds",
                   .value_name = "N",
                   .help = "number of seeds, beginning with --seed (1)",
                   .accept = accept_count<std::uint64_t>(command->runs.seeds, 1, kPlanSeedsMax)},
                  {.name = "--planner-only",
                   .value_name = {},
                   .help = "without fixed choices and oracle",
                   .accept = accept_flag(command->runs.hindsight, false)},
                  {.name = "--full",
                   .value_name = {},
                   .help = "allow scenarios that take minutes",
                   .accept = accept_flag(command->full)},
                  {.name = "--threads",
                   .value_name = "N",
                   .help = "number of seeds that run in parallel (one per processor)",
                   .accept = accept_count(command->threads, 1u, kPlanThreadsMax)},
                  {.name = "--each",
                   .value_name = {},
                   .help = "with --json: add the times of all fixed and played choices",
                   .accept = accept_flag(command->each)},
                  {.name = "--decisions",
                   .value_name = {},
                   .help = "also print the planner's decisions with their reasons",
                   .accept = accept_flag(command->decisions)}},
      .run = [command](World& world) { return run(*command, world); }};
}

}  // namespace tributary
