// tributary sim run: runs a simulated scenario with one or many seeds.
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "cli/accept.h"
#include "cli/commands.h"
#include "cli/json.h"
#include "cli/text.h"
#include "core/base/exit_codes.h"
#include "core/base/thread_pool.h"
#include "core/sim/runs.h"

namespace tributary {
namespace {

using Json = nlohmann::ordered_json;

// Limits of the options, and of the failures that the text lists. The JSON output has all failures
// that the runs kept.
constexpr std::uint64_t kSeedsMax = 1'000'000;
constexpr std::uint32_t kThreadsMax = 256;
constexpr std::size_t kFailuresShown = 10;

// The options. 0 threads stands for one per processor.
struct SimRun {
  std::string scenario;
  RunsRequest runs;
  std::uint32_t threads = 0;
  bool twice = false;
  bool notes = false;
  bool each = false;
};

// A seed determines its run completely, so this one command repeats the failure.
std::string replay_command(const SimRun& command, const FailedRun& failed) {
  return fmt::format("tributary sim run {} --seed {}", command.scenario, failed.seed);
}

// Everything that is needed to repeat and to file a failure.
Json failure_json(const SimRun& command, const FailedRun& failed) {
  return {{"scenario", command.scenario},
          {"seed", failed.seed},
          {"invariant", failed.violation.invariant},
          {"virtual_s", static_cast<double>(failed.violation.at_ns) * 1e-9},
          {"text", failed.violation.text},
          {"replay", replay_command(command, failed)}};
}

// The hash of a run stands for the final state of all its machines.
Json runs_json(const std::vector<RunResult>& runs) {
  Json json = Json::array();
  for (const RunResult& run : runs) {
    json.push_back({{"seed", run.seed},
                    {"state_hash", fmt::format("{:016x}", run.state_hash)},
                    {"rounds_committed", run.rounds_committed},
                    {"models_hash", fmt::format("{:016x}", run.models_hash)},
                    {"bytes_by_message", run.bytes_by_message}});
  }
  return json;
}

// Keys are public: tests/reference.py and CI read them.
Json report_json(const SimRun& command, const Scenario& scenario, const RunsReport& report,
                 double wall_s) {
  Json failures = Json::array();
  for (const FailedRun& failed : report.failed) failures.push_back(failure_json(command, failed));
  Json json = {{"scenario", scenario.name},
               {"seed", command.runs.first_seed},
               {"seeds", report.seeds},
               {"seeds_repeated", report.repeated},
               {"agents", scenario.agents},
               {"violations", report.violations},
               {"state_hash", fmt::format("{:016x}", report.state_hash)},
               {"rounds_committed", report.rounds_committed},
               {"collectives", report.collectives},
               {"faults", report.faults},
               {"faults_missed", report.faults_missed},
               {"conservation_error_max", report.conservation_error_max},
               {"payloads",
                {{"checked", report.budget.checked},
                 {"exempt", report.budget.exempt},
                 {"bytes", report.budget.bytes},
                 {"bytes_repeated", report.budget.repeated},
                 {"times_max", report.budget.times_max}}},
               {"sessions_lost", report.budget.sessions_lost},
               {"queue_s_max", report.queue_s_max},
               {"messages", report.messages},
               {"bytes", report.bytes},
               {"events", report.events},
               {"virtual_s", report.virtual_s},
               {"wall_s", wall_s},
               {"failures", std::move(failures)}};
  if (command.notes) json["notes"] = report.notes;
  if (command.each) json["runs"] = runs_json(report.runs);
  return json;
}

// The same figures as the JSON output, without those that only programs need.
std::string report_text(const SimRun& command, const Scenario& scenario, const RunsReport& report,
                        double wall_s) {
  std::string text = fmt::format("{}: {}\n\n", scenario.name, scenario.about);
  text +=
      fmt::format("  agents            {}\n  rounds committed  {}\n  seeds             {}{}\n",
                  scenario.agents, report.rounds_committed, report.seeds,
                  report.repeated == 0 ? "" : fmt::format(", {} of them twice", report.repeated));
  text +=
      fmt::format("  messages          {}\n  time              {:.1f} s virtual, {:.1f} s real\n",
                  count_text(report.messages), report.virtual_s, wall_s);
  text += fmt::format("  conservation      error at most {:.2g} of the rounding bound\n",
                      report.conservation_error_max);
  text += fmt::format("  payload bytes     {} sent, {} of them repeated\n",
                      count_text(report.budget.bytes), count_text(report.budget.repeated));
  text += fmt::format("  sessions          {} lost without a fault\n",
                      count_text(report.budget.sessions_lost));
  text += fmt::format("  longest queue     {:.3g} s\n", report.queue_s_max);
  text += fmt::format("  state             {:016x}\n", report.state_hash);
  // Tables without rows are left out, so that a run without faults is short.
  const auto add_table = [&](std::string_view title, const auto& counts) {
    if (counts.empty()) return;
    Table table({std::string(title), "times"});
    for (const auto& [name, count] : counts) table.add({name, count_text(count)});
    text += fmt::format("\n{}", table.text());
  };
  if (report.collectives.size() > 1) add_table("rounds by", report.collectives);
  add_table("fault", report.faults);
  add_table("fault in some runs only", report.faults_missed);
  if (command.notes) add_table("note", report.notes);
  text += fmt::format("\n{} violations\n", report.violations);
  for (std::size_t i = 0; i < std::min(report.failed.size(), kFailuresShown); ++i) {
    const FailedRun& failed = report.failed[i];
    text += fmt::format(
        "\n  {} with seed {} at {:.6f} s (virtual): {}\n    {}\n  again: {}\n", command.scenario,
        failed.seed, static_cast<double>(failed.violation.at_ns) * 1e-9, failed.violation.invariant,
        printable(failed.violation.text), replay_command(command, failed));
  }
  return text;
}

Result<Answer> run(const SimRun& command, World& world) {
  TRIBUTARY_ASSIGN(const Scenario scenario, read_scenario(command.scenario));
  RunsRequest request = command.runs;
  request.threads = command.threads == 0 ? hardware_threads() : command.threads;
  // A single seed is repeated only on request.
  request.repeat_every = command.twice ? 1 : request.seeds > 1 ? request.repeat_every : 0;
  request.progress = [&](std::uint64_t done, std::uint64_t total) {
    return world.progress.report(scenario.name, done, total);
  };
  // The wall time is the only figure that may differ between two runs of the same seed.
  const auto began = world.clock.now();
  TRIBUTARY_ASSIGN(const RunsReport report, run_seeds(scenario, request));
  const double wall_s = std::chrono::duration<double>(world.clock.now() - began).count();
  Answer answer;
  answer.text = report_text(command, scenario, report, wall_s);
  answer.data = json_text(report_json(command, scenario, report, wall_s));
  answer.exit_code = report.violations == 0 ? kExitOk : kExitViolation;
  return answer;
}

}  // namespace

Command sim_run_command() {
  const auto command = std::make_shared<SimRun>();
  return {
      .noun = "sim",
      .verb = "run",
      .summary = "simulate a scenario of faults with the production round protocol",
      .details =
          "Runs the state machines, codecs and journals of coordinator and agents over a virtual\n"
          "clock, network and disk, and checks invariants. Ends with exit code 60 if one is "
          "violated.\n"
          "The same seed gives the same run.\n\n"
          "examples:\n"
          "  tributary sim run tests/scenarios/mixed.toml --seed 7\n"
          "  tributary sim run tests/scenarios/mixed.toml --seeds 500 --json",
      .options = {{.name = "SCENARIO",
                   .value_name = "FILE",
                   .help = "scenario, a TOML file",
                   .accept = accept_file(command->scenario),
                   .required = true},
                  {.name = "--seed",
                   .value_name = "N",
                   .help = "seed of the faults (1)",
                   .accept = accept_count<std::uint64_t>(command->runs.first_seed, 0)},
                  {.name = "--seeds",
                   .value_name = "N",
                   .help = "number of seeds, beginning with --seed; one in 16 runs twice (1)",
                   .accept = accept_count<std::uint64_t>(command->runs.seeds, 1, kSeedsMax)},
                  {.name = "--twice",
                   .value_name = {},
                   .help = "run every seed twice; both runs must end in the same state",
                   .accept = accept_flag(command->twice)},
                  {.name = "--threads",
                   .value_name = "N",
                   .help = "number of seeds that run in parallel (one per processor)",
                   .accept = accept_count(command->threads, 1u, kThreadsMax)},
                  {.name = "--each",
                   .value_name = {},
                   .help = "with --json: add each seed's result, with bytes by message type",
                   .accept = accept_flag(command->each)},
                  {.name = "--notes",
                   .value_name = {},
                   .help = "also count the notes of the state machines",
                   .accept = accept_flag(command->notes)}},
      .run = [command](World& world) { return run(*command, world); }};
}

}  // namespace tributary
