// The command `tributary load`.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/accept.h"
#include "cli/json.h"
#include "cli/process/child_coordinator.h"
#include "cli/text.h"
#include "core/base/thread_pool.h"
#include "core/run/units/quantity.h"
#include "tools/load/load_agents.h"
#include "tools/load/load_command.h"

namespace tributary {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::uint32_t kLoadAgentsMax = 10'000;
constexpr std::array<std::string_view, 2> kSwitch = {"off", "on"};
constexpr std::array<std::string_view, 2> kReplicas = {"shared", "own"};

// The options. 0 threads stands for one per processor.
struct LoadCommand {
  std::uint32_t agents = 10;
  std::uint64_t parameters = 1u << 20;
  std::unique_ptr<Codec> codec;
  std::uint64_t rounds = 10;
  std::uint64_t bucket_values = 1u << 20;
  std::uint32_t threads = 0;
  std::uint32_t deadline_s = 600;
  std::size_t curve = 1;     // index in kSwitch
  std::size_t replicas = 0;  // index in kReplicas
  std::string program;
};

// The value at the nearest rank, without interpolation.
double percentile(std::vector<double> values, double share) {
  if (values.empty()) return 0;
  std::ranges::sort(values);
  const double place = share * static_cast<double>(values.size() - 1);
  return values[static_cast<std::size_t>(std::lround(place))];
}

// The quorum is 1: a round counts only with all agents, so that its time is that of the slowest.
ChildCoordinatorOptions coordinator_options(const LoadCommand& command) {
  const std::uint32_t deadline_ms = command.deadline_s * 1000;
  return {
      .program = command.program,
      .agents = command.agents,
      .encrypted = command.curve == 1,
      .settings = {
          "job.name=load", fmt::format("job.rounds={}", command.rounds),
          fmt::format("job.parameters={}", command.parameters),
          fmt::format("job.codec={}", command.codec->spec()),
          fmt::format("job.bucket_values={}", command.bucket_values),
          fmt::format("job.agents_min={}", command.agents), "job.quorum=1.0",
          fmt::format("job.deadline_ms={}", deadline_ms),
          fmt::format("job.preliminary_deadline_ms={}", deadline_ms),
          // A thousand agents on one machine answer more slowly than a thousand machines, so the
          // limits are long.
          "heartbeat.interval_ms=5000", "heartbeat.timeout_ms=120000", "retry.ack_timeout_ms=5000",
          fmt::format("limits.agents_max={}", std::max(command.agents, 16u)),
          fmt::format("link.connections_max={}", std::clamp(command.agents * 2, 64u, 65'000u))}};
}

// Keys are public: benchmarks read them.
Json load_json(const LoadCommand& command, const LoadReport& report, std::uint64_t peak) {
  return {{"agents", command.agents},
          {"parameters", command.parameters},
          {"codec", command.codec->spec()},
          {"curve", command.curve == 1},
          {"replicas", kReplicas[command.replicas]},
          {"rounds", command.rounds},
          {"rounds_per_s",
           report.seconds > 0 ? static_cast<double>(report.round_s.size()) / report.seconds : 0},
          {"round_s_median", percentile(report.round_s, 0.5)},
          {"round_s_p99", percentile(report.round_s, 0.99)},
          {"agents_finished", report.agents_finished},
          {"agents_lost", report.agents_lost},
          {"replicas_identical", report.replicas_identical},
          {"coordinator_peak_bytes", peak},
          {"bytes_up", report.bytes_up},
          {"bytes_down", report.bytes_down}};
}

// The same figures as the JSON output.
std::string load_text(const LoadCommand& command, const LoadReport& report, std::uint64_t peak) {
  return fmt::format(
      "{} agents, {} parameters, {}, encryption {}: {} rounds\n\n"
      "round            median {}, p99 {}\n"
      "agents           {} finished, {} lost; replicas {}\n"
      "bytes            {} up, {} down\n"
      "coordinator      {} at most\n",
      count_text(command.agents), count_text(command.parameters), command.codec->spec(),
      kSwitch[command.curve], command.rounds, seconds_text(percentile(report.round_s, 0.5)),
      seconds_text(percentile(report.round_s, 0.99)), count_text(report.agents_finished),
      count_text(report.agents_lost), report.replicas_identical ? "identical" : "DIFFER",
      count_text(report.bytes_up), count_text(report.bytes_down),
      quantity_text(Unit::bytes, static_cast<double>(peak)));
}

Result<Answer> load(const LoadCommand& command, World& world) {
  TRIBUTARY_ASSIGN(const std::unique_ptr<ChildCoordinator> coordinator,
                   ChildCoordinator::start(coordinator_options(command)));
  const std::size_t threads = command.threads != 0 ? command.threads : hardware_threads();
  const LoadOptions options = {.endpoint = coordinator->endpoint(),
                               .encrypted = command.curve == 1,
                               .coordinator = coordinator->key(),
                               .keys = coordinator->agent_keys(),
                               .parameters = command.parameters,
                               .rounds = command.rounds,
                               .threads = static_cast<std::uint32_t>(threads),
                               .share_replica = command.replicas == 0};
  std::uint64_t peak = 0;
  // The peak is read during the run, because the process's statistics are gone once it has ended.
  const auto go_on = [&](std::uint64_t rounds) -> Status {
    peak = std::max(peak, coordinator->peak_memory_bytes());
    TRIBUTARY_TRY(coordinator->check());
    if (world.progress.report("rounds", rounds, command.rounds)) return {};
    return Status(StatusCode::cancelled, {.what = "load"});
  };
  TRIBUTARY_ASSIGN(const LoadReport report, run_load(options, world.clock, go_on));
  return Answer{.text = load_text(command, report, peak),
                .data = json_text(load_json(command, report, peak))};
}

}  // namespace

Command load_command() {
  const auto command = std::make_shared<LoadCommand>();
  return {.noun = "load",
          .verb = {},
          .summary = "run many agents against a coordinator, with synthetic updates",
          .details =
              "Starts a coordinator as a separate process, with keys and a journal in a "
              "temporary folder, and\nruns N agents in this process. Connections and rounds are "
              "real. The agents have no journals,\nand their updates cost nothing to compute.\n\n"
              "examples:\n"
              "  tributary load --agents 4 --params 4Mi --codec fp32 --curve off\n"
              "  tributary load --agents 1000 --params 1Mi --codec thc:bits=4 --json",
          .options = {{.name = "--agents",
                       .value_name = "N",
                       .help = "number of agents, 1 to 10000",
                       .accept = accept_count(command->agents, 1u, kLoadAgentsMax),
                       .required = true},
                      {.name = "--params",
                       .value_name = "M",
                       .help = "number of model parameters",
                       .accept = accept_count<std::uint64_t>(command->parameters, 1, 1u << 30),
                       .required = true},
                      {.name = "--codec",
                       .value_name = "SPEC",
                       .help = "codec of the updates",
                       .accept = accept_codec(command->codec),
                       .required = true},
                      {.name = "--rounds",
                       .value_name = "N",
                       .help = "number of rounds (10)",
                       .accept = accept_count<std::uint64_t>(command->rounds, 1, 1'000'000)},
                      {.name = "--curve",
                       .value_name = "on|off",
                       .help = "encryption (on)",
                       .accept = accept_choice(command->curve, kSwitch)},
                      {.name = "--replicas",
                       .value_name = "shared|own",
                       .help = "shared: store equal replicas once; own: one in each agent (shared)",
                       .accept = accept_choice(command->replicas, kReplicas)},
                      {.name = "--bucket-values",
                       .value_name = "N",
                       .help = "values per bucket (1Mi)",
                       .accept = accept_count<std::uint64_t>(command->bucket_values, 64, 1u << 26)},
                      {.name = "--threads",
                       .value_name = "N",
                       .help = "number of threads for all agents (one per processor)",
                       .accept = accept_count(command->threads, 1u, 1024u)},
                      {.name = "--deadline-s",
                       .value_name = "N",
                       .help = "deadline of a round in seconds (600)",
                       .accept = accept_count(command->deadline_s, 1u, 86'400u)},
                      {.name = "--coordinator",
                       .value_name = "PROGRAM",
                       .help = "program of the coordinator (the installed one)",
                       .accept = accept_file(command->program)}},
          .run = [command](World& world) { return load(*command, world); }};
}

}  // namespace tributary
