// tributary demo: runs a federation of processes on this machine. Everything is real except the
// links, which are shaped.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <thread>
#include <utility>
#include <vector>

#include "cli/accept.h"
#include "cli/commands.h"
#include "cli/data/data_options.h"
#include "cli/demo/demo_dashboard.h"
#include "cli/demo/demo_federation.h"
#include "cli/demo/demo_outcome.h"
#include "cli/json.h"
#include "cli/process/process.h"
#include "cli/report/run_json.h"
#include "cli/run/dashboard_pictures.h"
#include "cli/text.h"
#include "core/codec/registry.h"
#include "core/collective/collective_name.h"
#include "core/store/coordinator/run_file.h"
#include "core/train/model/network_plan.h"

namespace tributary {
namespace {

using Json = nlohmann::ordered_json;

// The options, with their defaults in DemoPlan.
struct DemoCommand {
  DemoPlan plan;
  DemoWindow window = DemoWindow::if_possible;
};

// The user pressed Ctrl-C; the program then exits with the code of this status.
Status stopped() {
  return Status(StatusCode::cancelled, {.what = "the demonstration",
                                        .expected = "the run to complete",
                                        .got = "a signal to stop",
                                        .remedy = {}});
}

// The text beside the progress bar.
std::string doing_text(const DemoProgress& seen) {
  std::string text = "training";
  if (seen.accuracy >= 0) text += fmt::format(", accuracy {:.1f} %", 100 * seen.accuracy);
  if (seen.bytes_per_round > 0) {
    text += fmt::format(", {} per round", count_text(seen.bytes_per_round) + " bytes");
  }
  return text;
}

std::string switch_text(const DemoSwitch& each) {
  return fmt::format("round {}: {} -> {}\n  {}", each.round, each.from, each.to, each.reason);
}

// Above the progress bar, if there is a line.
void say(World& world, const std::optional<std::string>& line) {
  if (line) world.progress.say(*line);
}

// Reads the journal several times per second, as a dashboard does, until all processes have ended.
// All information comes from the journal, as for any other observer: the demonstration has no side
// entrance to the daemons.
Status watch(DemoFederation& federation, DemoDashboard& dashboard, World& world) {
  // Reading the journal costs CPU time, which the federation needs.
  constexpr std::chrono::milliseconds kLookEvery{300};
  DemoWatch look(federation.run_file());
  while (true) {
    TRIBUTARY_ASSIGN(const bool ended, federation.ended());
    const DemoProgress seen = look.look();
    for (const DemoSwitch& each : seen.switches) world.progress.say(switch_text(each));
    say(world, dashboard.check());
    if (ended) return {};
    if (!world.progress.report(doing_text(seen), seen.rounds, federation.plan().rounds())) {
      return stopped();
    }
    std::this_thread::sleep_for(kLookEvery);
  }
}

// The report is complete without pictures. Users without the dashboard are not told about it.
Result<std::vector<report::PagePicture>> pictures_of(const DemoFederation& federation,
                                                     const DemoCommand& command, World& world) {
  auto pictures = draw_dashboard_pictures(federation.run_file(), federation.report_folder(),
                                          [&](std::uint64_t done, std::uint64_t total) {
                                            return world.progress.report(
                                                "drawing pages of the dashboard", done, total);
                                          });
  if (pictures.ok() || pictures.status().code() == StatusCode::cancelled) return pictures;
  const bool is_missing = pictures.status().code() == StatusCode::not_found;
  if (!is_missing || command.window == DemoWindow::required) {
    world.progress.say("the report does not contain the dashboard's pages: " +
                       pictures.status().text());
  }
  return std::vector<report::PagePicture>();
}

// The report is written after all processes have ended, when the journals are complete.
Result<DemoOutcome> train(DemoFederation& federation, DemoDashboard& dashboard,
                          const DemoCommand& command, World& world) {
  TRIBUTARY_TRY(federation.start());
  say(world, dashboard.open(federation.run_file(), federation.path("dashboard.log")));
  TRIBUTARY_TRY(watch(federation, dashboard, world));
  TRIBUTARY_ASSIGN(const auto pictures, pictures_of(federation, command, world));
  return read_outcome(federation, pictures);
}

Result<DemoOutcome> run(const DemoCommand& command, World& world) {
  const auto progress = [&](std::string_view doing, std::uint64_t done, std::uint64_t total) {
    return world.progress.report(doing, done, total);
  };
  TRIBUTARY_ASSIGN(const std::unique_ptr<DemoFederation> federation,
                   DemoFederation::prepare(command.plan, progress));
  DemoDashboard dashboard(command.window);
  Result<DemoOutcome> outcome = train(*federation, dashboard, command, world);
  // After Ctrl-C nothing remains; after an error the folder and the window stay for inspection.
  if (outcome.status().code() == StatusCode::cancelled) {
    dashboard.close();
    federation->remove_folder();
  } else {
    dashboard.leave_open();
  }
  return outcome;
}

// For example "ring in 40 rounds, star in 20 rounds".
std::string rounds_text(const std::map<std::string, std::uint64_t>& rounds) {
  std::string text;
  for (const auto& [name, count] : rounds) {
    text += fmt::format("{}{} in {} rounds", text.empty() ? "" : ", ", name, count);
  }
  return text;
}

// Lists the choices of codec, ratio and collective, the most frequent one first.
std::string choices_text(const std::map<std::string, std::uint64_t>& choices) {
  std::vector<std::pair<std::string, std::uint64_t>> rows(choices.begin(), choices.end());
  std::ranges::stable_sort(rows, std::greater<>(), [](const auto& row) { return row.second; });
  std::string text;
  for (const auto& [choice, rounds] : rows) {
    text += fmt::format("  {:<36} {} rounds\n", choice, rounds);
  }
  return text;
}

// Both directions together.
std::uint64_t dense_bytes(const report::RunFigures& figures) {
  return figures.bytes_dense_up.value_or(0) + figures.bytes_dense_down.value_or(0);
}

std::string text_of(const DemoPlan& plan, const DemoOutcome& outcome) {
  const report::RunFigures& figures = outcome.report.figures;
  const std::uint64_t bytes = figures.bytes_up + figures.bytes_down;
  return fmt::format(
      "{} on digits: {} agents, {} rounds in {}\n\n"
      "  test accuracy        {:.2f} %\n"
      "  bytes up, down       {} and {}\n"
      "  against float32      {} bytes, {}\n"
      "  collectives          {}\n"
      "  replicas identical   {}\n"
      "  conservation error   {}\n\n"
      "{}\n"
      "The report, with pictures:  {}\n"
      "The journal of the run:     {}\n",
      plan.model, plan.agents, figures.rounds, seconds_text(figures.wall_s),
      100 * figures.accuracy_final.value_or(0), count_text(figures.bytes_up),
      count_text(figures.bytes_down), count_text(dense_bytes(figures)),
      ratio_text(report::ratio_of(dense_bytes(figures), bytes).value_or(0)),
      rounds_text(figures.collectives), outcome.replicas_identical ? "yes" : "NO",
      outcome.conservation_error
          ? fmt::format("{:.3g} of the rounding bound", *outcome.conservation_error)
          : "not audited",
      choices_text(figures.choices), printable(outcome.report.page),
      printable(plan.folder + "/run.db"));
}

// The figures of the report, and what only a demonstration can know: it reads the agents' journals
// too.
Json json_of(const DemoPlan& plan, const DemoOutcome& outcome) {
  Json json = report::json_of(outcome.report.figures);
  json["replicas_identical"] = outcome.replicas_identical;
  json["conservation_error_max"] = nullptr;
  if (outcome.conservation_error) json["conservation_error_max"] = *outcome.conservation_error;
  json["run_db"] = plan.folder + "/run.db";
  json["report"] = outcome.report.page;
  return json;
}

Result<Answer> demo(const DemoCommand& command, World& world) {
  TRIBUTARY_ASSIGN(const DemoOutcome outcome, run(command, world));
  Answer answer;
  answer.text = text_of(command.plan, outcome);
  answer.data = json_text(json_of(command.plan, outcome));
  // A conservation error above 1 means that rounding does not explain it.
  const bool conserved = outcome.conservation_error.value_or(0) <= 1;
  if (!outcome.replicas_identical || !conserved) answer.exit_code = 1;
  return answer;
}

Accept accept_trace(std::optional<LinkTrace>& target) {
  return [&target](const std::string& value) -> Status {
    TRIBUTARY_ASSIGN(target, LinkTrace::read(value));
    return {};
  };
}

// Makes the codec once, so that a wrong spec is refused before anything is generated.
Accept accept_spec(std::optional<std::string>& target) {
  return [&target](const std::string& value) -> Status {
    TRIBUTARY_TRY(make_codec(value).status());
    target = value;
    return {};
  };
}

Accept accept_rounds(std::optional<std::uint64_t>& target) {
  return [&target](const std::string& value) -> Status {
    TRIBUTARY_ASSIGN(target, parse_count(value, 1, 1'000'000));
    return {};
  };
}

Accept accept_planning(std::optional<DemoPlanning>& target) {
  return [&target](const std::string& value) -> Status {
    static constexpr std::string_view kPlannings[] = {"fixed", "adaptive"};
    std::size_t place = 0;
    TRIBUTARY_TRY(accept_choice(place, kPlannings)(value));
    target = static_cast<DemoPlanning>(place);
    return {};
  };
}

Accept accept_collective(std::optional<wire::Collective>& target) {
  return [&target](const std::string& value) -> Status {
    TRIBUTARY_ASSIGN(target, parse_collective(value));
    return {};
  };
}

Accept accept_window(DemoWindow& target, DemoWindow window) {
  return [&target, window](const std::string&) -> Status {
    target = window;
    return {};
  };
}

// The model must fit the pictures of digits: 28 x 28, ten classes.
Accept accept_model(std::string& target) {
  return [&target](const std::string& value) -> Status {
    TRIBUTARY_TRY(plan_network(value, {.dims = {1, 28, 28}, .classes = 10}).status());
    target = value;
    return {};
  };
}

}  // namespace

Command demo_command() {
  const auto command = std::make_shared<DemoCommand>();
  DemoPlan& plan = command->plan;
  return {
      .noun = "demo",
      .verb = {},
      .summary = "train with a coordinator and agents on this machine, over slow links",
      .details =
          "Generates pictures of digits, divides them among the agents, and starts a coordinator\n"
          "and the agents as processes over slow, uneven and changing links. Prints the accuracy\n"
          "and the bytes at the end. Ctrl-C ends everything and removes the folder. If there is\n"
          "a display, the dashboard shows the run and stays open after its end.\n\n"
          "examples:\n"
          "  tributary demo                          # a planner follows the links\n"
          "  tributary demo --agents 8 --rounds 200 --codec threelc:s=1.75\n"
          "  tributary demo --collective ring\n"
          "  tributary demo --in-network --headless\n"
          "  tributary demo --skew 0.3 --json",
      .options = {{.name = "--agents",
                   .value_name = "N",
                   .help = "number of agents (4)",
                   .accept = accept_count(plan.agents, 1u, 64u)},
                  {.name = "--rounds",
                   .value_name = "N",
                   .help = "number of rounds (200; 60 with fixed planning)",
                   .accept = accept_rounds(plan.rounds_requested)},
                  {.name = "--trace",
                   .value_name = "FILE",
                   .help = "trace of the changing links; docs/demo.md has the format",
                   .accept = accept_trace(plan.trace)},
                  {.name = "--codec",
                   .value_name = "SPEC",
                   .help = "codec of the updates (chosen by the planner)",
                   .accept = accept_spec(plan.codec_requested)},
                  {.name = "--collective",
                   .value_name = "NAME",
                   .help = "collective: star, sharded_star, ring, ... (chosen by the planner)",
                   .accept = accept_collective(plan.collective_requested)},
                  {.name = "--in-network",
                   .value_name = {},
                   .help = "start tributary-switchd, which adds updates: collective in_network",
                   .accept =
                       [&plan](const std::string&) {
                         plan.collective_requested = wire::Collective::in_network;
                         return Status();
                       }},
                  {.name = "--planning",
                   .value_name = "NAME",
                   .help = "adaptive (the planner chooses) or fixed (adaptive, unless codec or\n"
                           "collective is given)",
                   .accept = accept_planning(plan.planning_requested)},
                  {.name = "--model",
                   .value_name = "SPEC",
                   .help = "model: lenet, mlp:hidden=64, resnet8, ... (lenet)",
                   .accept = accept_model(plan.model)},
                  {.name = "--skew",
                   .value_name = "ALPHA",
                   .help = "Dirichlet alpha of the labels per shard; 0: i.i.d. (0)",
                   .accept = accept_real(plan.skew, 0, 1e6)},
                  {.name = "--pictures",
                   .value_name = "N",
                   .help = "number of training pictures (20k)",
                   .accept = accept_count<std::uint64_t>(plan.pictures, 10, 500'000)},
                  {.name = "--seed",
                   .value_name = "N",
                   .help = "seed of model, shards and random draws (1)",
                   .accept = accept_count<std::uint64_t>(plan.seed, 0)},
                  {.name = "--out",
                   .value_name = "DIR",
                   .help = "folder for all files (tributary-demo)",
                   .accept = accept_file(plan.folder)},
                  {.name = "--set",
                   .value_name = "KEY=VALUE",
                   .help = "further setting of the coordinator, for example job.local_steps=4",
                   .accept =
                       [&plan](const std::string& value) {
                         plan.settings.push_back(value);
                         return Status();
                       },
                   .repeatable = true},
                  {.name = "--headless",
                   .value_name = {},
                   .help = "do not open the dashboard's window, even if there is a "
                           "display",
                   .accept = accept_window(command->window, DemoWindow::none)},
                  {.name = "--dashboard",
                   .value_name = {},
                   .help = "open the dashboard's window; print the reason if it cannot be opened",
                   .accept = accept_window(command->window, DemoWindow::required)}},
      .run = [command](World& world) { return demo(*command, world); }};
}

}  // namespace tributary
