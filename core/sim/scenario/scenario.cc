#include "core/sim/scenario/scenario.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "core/base/files/file.h"
#include "core/codec/registry.h"
#include "core/collective/collective_name.h"
#include "core/sim/scenario/table_reader.h"
#include "schemas/limits.h"

namespace tributary {
namespace {

constexpr std::uint64_t kScenarioBytesMax = 1u << 20;

// In the order of Incident. Scenario files use these names.
constexpr std::array<std::string_view, kIncidents> kIncidentNames = {
    "agent_kill",
    "agent_power_cut",
    "coordinator_kill",
    "coordinator_power_cut",
    "kill_before_publish",
    "partition",
    "slow_link",
    "agent_leave",
    "late_join",
    "straggler",
    "training_failure",
    "disk_full",
    "disk_failure",
    "lying_agent",
    "garbage",
    "twin_agent",
    "replay",
    "peer_break",
    "lying_peer",
    "aggregator_kill",
    "tampered_sums",
};

// The simulator advises the job's own codec and changes only the shares.
Status plan_own_ratios(ScenarioJob& job) {
  RoundPolicy& policy = job.policy;
  policy.planning.goal = wire::PlanGoal::adaptive;
  if (policy.codecs.size() == 1 && policy.collective == wire::Collective::star) {
    TRIBUTARY_ASSIGN(const std::unique_ptr<Codec> codec, make_codec(policy.codecs[0]));
    if (codec->own_share() && *codec->own_share() >= job.ratio_min) return {};
  }
  return wrong_setting(
      "ratio_min of the job",
      "one codec by the star of which agents keep places of their own, and so much at "
      "least",
      fmt::format("{}", job.ratio_min), "name a codec like topk:cr=0.1, or leave it out");
}

// The keys are those of a real job where both exist.
Status read_job(TableReader in, ScenarioJob& job) {
  constexpr std::uint32_t kMsMax = 86'400'000;
  RoundPolicy& policy = job.policy;
  TRIBUTARY_TRY(in.count("buckets", job.buckets, 1u, 4096u));
  TRIBUTARY_TRY(in.count("bucket_values", job.bucket_values, 64u, 1u << 20));
  TRIBUTARY_TRY(in.text("mode", job.mode));
  TRIBUTARY_TRY(in.texts("codecs", policy.codecs));
  TRIBUTARY_TRY(in.text("fusion", policy.fusion));
  TRIBUTARY_TRY(in.number("ratio_min", job.ratio_min, 1e-6, 1));
  std::string collective = "star";
  TRIBUTARY_TRY(in.text("collective", collective));
  TRIBUTARY_ASSIGN(policy.collective, parse_collective(collective));
  TRIBUTARY_TRY(
      in.count("exchanges_per_round", policy.exchanges_per_round, 1u, wire::kExchangesPerRoundMax));
  TRIBUTARY_TRY(in.number("learning_rate", policy.learning_rate, 0, 1e6));
  TRIBUTARY_TRY(in.count("agents_min", policy.agents_min, 1u, 1u << 20));
  TRIBUTARY_TRY(in.number("quorum_fraction", policy.quorum_fraction, 0, 1));
  TRIBUTARY_TRY(in.count("grace_ms", policy.grace_ms, 0u, kMsMax));
  TRIBUTARY_TRY(in.number("grace_factor", policy.grace_factor, 0, 1000));
  TRIBUTARY_TRY(in.count("deadline_ms", policy.deadline_ms, 1u, kMsMax));
  TRIBUTARY_TRY(in.count("preliminary_deadline_ms", policy.preliminary_deadline_ms, 1u, kMsMax));
  TRIBUTARY_TRY(in.count("retry_after_ms", policy.retry_after_ms, 1u, kMsMax));
  TRIBUTARY_TRY(in.count("catch_up_wait_ms", policy.catch_up_wait_ms, 0u, kMsMax));
  TRIBUTARY_TRY(in.count("checkpoint_rounds", policy.checkpoint_rounds, 1u, 1u << 30));
  TRIBUTARY_TRY(in.number("checkpoint_redo_models", policy.checkpoint_redo_models, 0, 1e6));
  TRIBUTARY_TRY(in.refuse_others());
  policy.bucket_values_max = job.bucket_values;
  if (job.mode != "gradient" && job.mode != "delta") {
    return wrong_setting("mode of the job", "gradient or delta", job.mode,
                         "change it in the scenario");
  }
  if (job.ratio_min < 1) TRIBUTARY_TRY(plan_own_ratios(job));
  return check(policy);
}

Status read_rates(TableReader& in, const std::string& origin, const std::string& place,
                  NetworkSettings& network) {
  constexpr double kMbitMin = 0.001;
  constexpr double kMbitMax = 1e6;
  TRIBUTARY_TRY(in.span("rate_up_mbit_s", network.rate_up_mbit_s, kMbitMin, kMbitMax));
  TRIBUTARY_TRY(in.span("rate_down_mbit_s", network.rate_down_mbit_s, kMbitMin, kMbitMax));
  TRIBUTARY_ASSIGN(const std::vector<const toml::table*> steps, in.tables("rate_steps"));
  for (const toml::table* const table : steps) {
    TableReader step(*table, place + ": rate_steps");
    RateStep& drawn = network.rate_steps.emplace_back(RateStep{{1, 1}, {1, 1}});
    TRIBUTARY_TRY(step.span("seconds", drawn.seconds, 1e-3, 1e6));
    TRIBUTARY_TRY(step.span("factor", drawn.factor, 1e-4, 1e4));
    TRIBUTARY_TRY(step.refuse_others());
  }
  std::string trace;
  TRIBUTARY_TRY(in.text("trace", trace));
  if (trace.empty()) return {};
  // A trace defines the rate, so another rate beside it would be ignored.
  if (network.rate_up_mbit_s || network.rate_down_mbit_s || !steps.empty()) {
    return wrong_setting(place + ": trace",
                         "no rate_up_mbit_s, rate_down_mbit_s or rate_steps beside it", "both",
                         "leave one of them out: a trace says the rate");
  }
  const auto path = std::filesystem::path(origin).parent_path() / trace;
  TRIBUTARY_ASSIGN(LinkTrace read, LinkTrace::read(path.string()));
  network.trace = std::make_shared<const LinkTrace>(std::move(read));
  return {};
}

Status read_network(TableReader in, const std::string& origin, const std::string& place,
                    NetworkSettings& network) {
  TRIBUTARY_TRY(read_rates(in, origin, place, network));
  TRIBUTARY_TRY(in.flag("stream", network.stream));
  TRIBUTARY_TRY(in.span("agent_delay_ms", network.agent_delay));
  TRIBUTARY_TRY(in.span("delay_ms", network.delay));
  TRIBUTARY_TRY(in.number("rate_mbit_s", network.rate_mbit_s, 0.001, 1e6));
  TRIBUTARY_TRY(in.number("loss", network.loss, 0, 0.5));
  TRIBUTARY_TRY(in.number("duplication", network.duplication, 0, 0.5));
  TRIBUTARY_TRY(in.number("reordering", network.reordering, 0, 1));
  TRIBUTARY_TRY(in.number("bit_flips", network.bit_flips, 0, 0.5));
  return in.refuse_others();
}

// Ranges of times are drawn anew for each training and each disk operation.
Status read_machines(TableReader in, MachineSettings& machines) {
  TRIBUTARY_TRY(in.span("training_ms", machines.training));
  TRIBUTARY_TRY(in.span("disk_ms", machines.disk));
  TRIBUTARY_TRY(in.count("slow_agents", machines.slow_agents, 0u, 1u << 20));
  TRIBUTARY_TRY(in.number("slow_factor", machines.slow_factor, 1, 1000));
  TRIBUTARY_TRY(in.count("train_ahead_every", machines.train_ahead_every, 0u, 1u << 20));
  TRIBUTARY_TRY(in.count("skewed_clocks", machines.skewed_clocks, 0u, 1u << 20));
  TRIBUTARY_TRY(in.number("clock_rate_min", machines.clock_rate_min, 0.1, 10));
  TRIBUTARY_TRY(in.number("clock_rate_max", machines.clock_rate_max, 0.1, 10));
  std::string durability(name(machines.durability));
  TRIBUTARY_TRY(in.text("durability", durability));
  TRIBUTARY_ASSIGN(machines.durability, durability_named(durability));
  TRIBUTARY_TRY(in.number("sync_s", machines.sync_s, 0.001, 1e6));
  return in.refuse_others();
}

Status read_aggregator(TableReader in, AggregatorSettings& aggregator) {
  TRIBUTARY_TRY(in.count("slots", aggregator.slots, 1u, 65'536u));
  TRIBUTARY_TRY(in.count("packet_values", aggregator.packet_values, 0u, 1024u));
  if (aggregator.packet_values % 64 != 0) {
    return Status(StatusCode::invalid_argument,
                  {.what = "packet_values of [aggregator]",
                   .expected = "a multiple of 64",
                   .got = fmt::format("{}", aggregator.packet_values)});
  }
  TRIBUTARY_TRY(in.span("delay_ms", aggregator.delay));
  TRIBUTARY_TRY(in.number("loss", aggregator.loss, 0, 0.5));
  TRIBUTARY_TRY(in.number("duplication", aggregator.duplication, 0, 0.5));
  TRIBUTARY_TRY(in.number("reordering", aggregator.reordering, 0, 1));
  return in.refuse_others();
}

Status read_faults(TableReader in, const std::string& place, Scenario& scenario) {
  TRIBUTARY_TRY(in.count("until_round", scenario.faults_until_round, 0u, UINT32_MAX));
  TRIBUTARY_TRY(in.number("until_s", scenario.faults_until_s, 0, 1e9));
  for (std::size_t i = 0; i < kIncidents; ++i) {
    TRIBUTARY_ASSIGN(const toml::table* table, in.table(kIncidentNames[i]));
    if (table == nullptr) continue;
    IncidentPlan& plan = scenario.incidents[i];
    plan.count = 1;  // defaults of an incident that the file names without details
    plan.duration = {100, 1000};
    TableReader incident(*table, fmt::format("{}.{}", place, kIncidentNames[i]));
    TRIBUTARY_TRY(incident.count("count", plan.count, 0u, 1u << 20));
    TRIBUTARY_TRY(incident.span("duration_ms", plan.duration));
    TRIBUTARY_TRY(incident.refuse_others());
  }
  return in.refuse_others();
}

// Every table is optional and keeps its defaults; unknown keys are errors.
Status read_all(const toml::table& root, const std::string& origin, Scenario& scenario) {
  TableReader in(root, origin);
  TRIBUTARY_TRY(in.text("name", scenario.name));
  TRIBUTARY_TRY(in.text("about", scenario.about));
  TRIBUTARY_TRY(in.count("agents", scenario.agents, 1u, 4096u));
  TRIBUTARY_TRY(in.count("rounds", scenario.rounds, 1u, 1u << 20));
  TRIBUTARY_TRY(in.number("progress_s", scenario.progress_s, 1, 1e6));
  // Reads an optional table of the file.
  const auto part = [&](std::string_view key, auto&& read) -> Status {
    TRIBUTARY_ASSIGN(const toml::table* table, in.table(key));
    if (table == nullptr) return {};
    const std::string place = fmt::format("{}: {}", origin, key);
    return read(TableReader(*table, place), place);
  };
  TRIBUTARY_TRY(part("job", [&](TableReader table, const std::string&) {
    return read_job(std::move(table), scenario.job);
  }));
  TRIBUTARY_TRY(part("network", [&](TableReader table, const std::string& place) {
    return read_network(std::move(table), origin, place, scenario.network);
  }));
  TRIBUTARY_TRY(part("machines", [&](TableReader table, const std::string&) {
    return read_machines(std::move(table), scenario.machines);
  }));
  TRIBUTARY_TRY(part("aggregator", [&](TableReader table, const std::string&) {
    return read_aggregator(std::move(table), scenario.aggregator);
  }));
  TRIBUTARY_TRY(part("faults", [&](TableReader table, const std::string& place) {
    return read_faults(std::move(table), place, scenario);
  }));
  return in.refuse_others();
}

}  // namespace

// Uniform within the span.
TimeNs draw_ns(const SpanMs& span, SeededDraws& draws) {
  const double ms = span.low + (span.high - span.low) * draws.uniform();
  return static_cast<TimeNs>(ms * 1e6);
}

// Rounding makes the result independent of the C library's pow().
double draw_log_uniform(const Span& span, SeededDraws& draws) {
  const double drawn = span.low * std::pow(span.high / span.low, draws.uniform());
  return std::clamp(std::round(drawn * 1e6) * 1e-6, span.low, span.high);
}

std::string_view name(Incident incident) {
  return kIncidentNames[static_cast<std::size_t>(incident)];
}

Result<Scenario> parse_scenario(std::string_view text, std::string_view origin) {
  const std::string place(origin);
  TRIBUTARY_ASSIGN(const toml::table root, parse_scenario_table(text, place));
  Scenario scenario;
  scenario.name = place;
  scenario.job.policy.bucket_values_max = scenario.job.bucket_values;
  TRIBUTARY_TRY(read_all(root, place, scenario));
  if (scenario.job.policy.agents_min > scenario.agents) {
    return wrong_setting(fmt::format("{}: agents_min of the job", place),
                         fmt::format("at most the {} agents there are", scenario.agents),
                         fmt::format("{}", scenario.job.policy.agents_min),
                         "change it in the scenario");
  }
  // Connections among agents have a constant rate and lose nothing.
  if (scenario.by_peers() && scenario.network.of_agents()) {
    return wrong_setting(fmt::format("{}: network", place),
                         "rates of agents with the collective star only", "another collective",
                         "leave the rates, the trace and `stream` out");
  }
  return scenario;
}

Result<Scenario> read_scenario(const std::string& path) {
  TRIBUTARY_ASSIGN(const Bytes bytes, read_file(path, kScenarioBytesMax));
  return parse_scenario({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, path);
}

}  // namespace tributary
