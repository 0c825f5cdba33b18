// tributary demo: a federation of processes on this machine, real but for the links.
#include <fmt/format.h>

#include <chrono>
#include <memory>
#include <nlohmann/json.hpp>
#include <thread>

#include "cli/accept.h"
#include "cli/commands.h"
#include "cli/data_options.h"
#include "cli/demo_federation.h"
#include "cli/demo_outcome.h"
#include "cli/json.h"
#include "cli/process.h"
#include "cli/text.h"
#include "core/base/file.h"
#include "core/codec/registry.h"
#include "core/store/run_file.h"
#include "core/train/network_plan.h"

namespace tributary {
namespace {

using Json = nlohmann::ordered_json;

struct DemoCommand {
  DemoPlan plan;
};

Status stopped() {
  return Status(StatusCode::cancelled, {.what = "the demonstration",
                                        .expected = "it to come to its end",
                                        .got = "a signal to stop",
                                        .remedy = {}});
}

// What the bar says beside the rounds.
std::string doing_text(const DemoProgress& seen) {
  std::string text = "training";
  if (seen.accuracy >= 0) text += fmt::format(", accuracy {:.1f} %", 100 * seen.accuracy);
  if (seen.bytes_per_round > 0) {
    text += fmt::format(", {} a round", count_text(seen.bytes_per_round) + " bytes");
  }
  return text;
}

// Looks into the journal now and then, as a dashboard does, until all processes have ended.
Status watch(DemoFederation& federation, World& world) {
  constexpr std::chrono::milliseconds kLookEvery{300};
  DemoWatch look(federation.run_file());
  while (true) {
    TRIBUTARY_ASSIGN(const bool ended, federation.ended());
    if (ended) return {};
    const DemoProgress seen = look.look();
    if (!world.progress.report(doing_text(seen), seen.rounds, federation.plan().rounds)) {
      return stopped();
    }
    std::this_thread::sleep_for(kLookEvery);
  }
}

Result<DemoOutcome> run(const DemoPlan& plan, World& world) {
  const auto progress = [&](std::string_view doing, std::uint64_t done, std::uint64_t total) {
    return world.progress.report(doing, done, total);
  };
  TRIBUTARY_ASSIGN(const std::unique_ptr<DemoFederation> federation,
                   DemoFederation::prepare(plan, progress));
  const auto began = world.clock.now();
  Status status = federation->start();
  if (status.ok()) status = watch(*federation, world);
  if (status.code() == StatusCode::cancelled) federation->remove_folder();
  TRIBUTARY_TRY(std::move(status));
  TRIBUTARY_ASSIGN(DemoOutcome outcome, read_outcome(*federation));
  outcome.seconds = std::chrono::duration<double>(world.clock.now() - began).count();
  return outcome;
}

std::string text_of(const DemoPlan& plan, const DemoOutcome& outcome) {
  const double saved =
      static_cast<double>(outcome.bytes_dense) / static_cast<double>(outcome.bytes());
  std::string text = fmt::format(
      "{} on digits: {} agents, {} rounds in {}\n\n"
      "  test accuracy        {:.2f} %\n"
      "  sent up, down        {} and {} bytes; as float32 together {}: {} of it\n"
      "  codecs               {}\n"
      "  collectives          {}\n"
      "  replicas identical   {}\n"
      "  conservation error   {}\n\n",
      plan.model, plan.agents, outcome.rounds, seconds_text(outcome.seconds),
      100 * outcome.accuracy, count_text(outcome.bytes_up), count_text(outcome.bytes_down),
      count_text(outcome.bytes_dense), ratio_text(saved), rounds_text(outcome.codecs),
      rounds_text(outcome.collectives), outcome.replicas_identical ? "yes" : "NO",
      outcome.conservation_error
          ? fmt::format("{:.3g} of what rounding explains", *outcome.conservation_error)
          : "not audited");
  text += fmt::format("The journal of the run:  {}\n", printable(outcome.run_file));
  return text;
}

Json json_of(const DemoPlan& plan, const DemoOutcome& outcome) {
  Json json = {{"agents", plan.agents},
               {"rounds", outcome.rounds},
               {"seconds", outcome.seconds},
               {"accuracy_final", outcome.accuracy},
               {"bytes_up", outcome.bytes_up},
               {"bytes_down", outcome.bytes_down},
               {"bytes_dense", outcome.bytes_dense},
               {"codecs", outcome.codecs},
               {"collectives", outcome.collectives},
               {"switches", Json::array()},
               {"replicas_identical", outcome.replicas_identical},
               {"conservation_error_max", nullptr},
               {"run_db", outcome.run_file}};
  for (const DemoSwitch& one : outcome.switches) {
    json["switches"].push_back(
        {{"round", one.round}, {"from", one.from}, {"to", one.to}, {"reason", one.reason}});
  }
  if (outcome.conservation_error) json["conservation_error_max"] = *outcome.conservation_error;
  return json;
}

Result<Answer> demo(const DemoCommand& command, World& world) {
  TRIBUTARY_ASSIGN(const DemoOutcome outcome, run(command.plan, world));
  Answer answer;
  answer.text = text_of(command.plan, outcome);
  answer.data = json_text(json_of(command.plan, outcome));
  if (!outcome.replicas_identical) answer.exit_code = 1;
  return answer;
}

Accept accept_trace(std::optional<LinkTrace>& target) {
  return [&target](const std::string& value) -> Status {
    constexpr std::uint64_t kTraceBytesMax = 16u << 20;
    TRIBUTARY_ASSIGN(const Bytes bytes, read_file(value, kTraceBytesMax));
    TRIBUTARY_ASSIGN(target, LinkTrace::parse({reinterpret_cast<const char*>(bytes.data()),
                                               bytes.size()}));
    return {};
  };
}

Accept accept_spec(std::string& target) {
  return [&target](const std::string& value) -> Status {
    TRIBUTARY_TRY(make_codec(value).status());
    target = value;
    return {};
  };
}

Accept accept_model(std::string& target) {
  return [&target](const std::string& value) -> Status {
    TRIBUTARY_TRY(
        plan_network(value, {.dims = {1, 28, 28}, .classes = 10}).status());
    target = value;
    return {};
  };
}

}  // namespace

Command demo_command() {
  const auto command = std::make_shared<DemoCommand>();
  DemoPlan& plan = command->plan;
  return {.noun = "demo",
          .verb = {},
          .summary = "train together: a coordinator and agents on this machine, over bad links",
          .details =
              "Draws pictures of digits, shares them out, and starts a coordinator and the agents as\n"
              "processes whose links are slow, uneven and changing. At the end it says what was\n"
              "learned and what it cost. Ctrl-C ends all of it and takes its folder away.\n\n"
              "examples:\n"
              "  tributary demo\n"
              "  tributary demo --agents 8 --rounds 200 --codec threelc:s=1.75\n"
              "  tributary demo --skew 0.3 --json",
          .options = {{.name = "--agents",
                       .value_name = "N",
                       .help = "agents (4)",
                       .accept = accept_count(plan.agents, 1u, 64u)},
                      {.name = "--rounds",
                       .value_name = "N",
                       .help = "rounds (60)",
                       .accept = accept_count<std::uint64_t>(plan.rounds, 1, 1'000'000)},
                      {.name = "--trace",
                       .value_name = "FILE",
                       .help = "how the links change: docs/demo.md has the format",
                       .accept = accept_trace(plan.trace)},
                      {.name = "--codec",
                       .value_name = "SPEC",
                       .help = "what updates are encoded with (thc:bits=4)",
                       .accept = accept_spec(plan.codec)},
                      {.name = "--model",
                       .value_name = "SPEC",
                       .help = "lenet, mlp:hidden=64, resnet8, ... (lenet)",
                       .accept = accept_model(plan.model)},
                      {.name = "--skew",
                       .value_name = "ALPHA",
                       .help = "Dirichlet's alpha of the labels in a shard; 0: i.i.d. (0)",
                       .accept = accept_real(plan.skew, 0, 1e6)},
                      {.name = "--seed",
                       .value_name = "N",
                       .help = "of model, shards and draws (1)",
                       .accept = accept_count<std::uint64_t>(plan.seed, 0)},
                      {.name = "--out",
                       .value_name = "DIR",
                       .help = "folder for everything (tributary-demo)",
                       .accept = accept_file(plan.folder)},
                      {.name = "--set",
                       .value_name = "KEY=VALUE",
                       .help = "another setting of the coordinator, as job.local_steps=4",
                       .accept =
                           [&plan](const std::string& value) {
                             plan.settings.push_back(value);
                             return Status();
                           },
                       .repeatable = true},
                      {.name = "--headless",
                       .value_name = {},
                       .help = "without the dashboard, which this build has not",
                       .accept = [](const std::string&) { return Status(); }}},
          .run = [command](World& world) { return demo(*command, world); }};
}

}  // namespace tributary
