#include "coordinator/closed_loop/truth/plan_scenario.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <utility>

#include "coordinator/closed_loop/truth/declared_codecs.h"
#include "core/base/files/file.h"
#include "core/collective/collective_name.h"
#include "core/net/shaped/trace.h"
#include "core/sim/scenario/table_reader.h"

namespace tributary {
namespace {

constexpr std::uint64_t kPlanScenarioBytesMax = 1u << 20;
constexpr double kRateMin_mbit_s = 1e-3;
constexpr double kRateMax_mbit_s = 1e6;
constexpr double kDelayMin_ms = 1e-3;
constexpr double kDelayMax_ms = 60'000;
constexpr double kStepMin_s = 1e-2;
constexpr double kStepMax_s = 1e6;
constexpr double kDeviationMax = 3;

// A table of the file and the name of the file, which traces are looked up relative to.
struct Part {
  TableReader in;
  const std::string& origin;
  std::string place;
};

using Read = Status (*)(Part& part, PlanScenario& scenario);

// The shares make a trace fit another model or a shorter run.
Status read_trace(Part& part, PlanLinkSettings& links) {
  std::string trace;
  double rate_share = 1;
  double time_share = 1;
  TRIBUTARY_TRY(part.in.text("trace", trace));
  TRIBUTARY_TRY(part.in.number("rate_share", rate_share, 1e-4, 1e4));
  TRIBUTARY_TRY(part.in.number("time_share", time_share, 1e-4, 1e4));
  if (trace.empty()) return {};
  const auto path = std::filesystem::path(part.origin).parent_path() / trace;
  TRIBUTARY_ASSIGN(const LinkTrace read, LinkTrace::read(path.string()));
  for (const TraceStep& step : read.steps()) {
    const double rate_mbit_s = static_cast<double>(step.bytes_per_s) * 8e-6 * rate_share;
    links.steps.push_back(
        {.seconds = std::chrono::duration<double>(step.lasts).count() * time_share,
         .rate_mbit_s = rate_mbit_s,
         .delay_ms = std::chrono::duration<double, std::milli>(step.delay).count()});
  }
  return {};
}

Status read_steps(Part& part, PlanLinkSettings& links) {
  TRIBUTARY_ASSIGN(const std::vector<const toml::table*> steps, part.in.tables("steps"));
  for (const toml::table* const table : steps) {
    TableReader in(*table, part.place + ": steps");
    LinkStep step = {.seconds = 10, .rate_mbit_s = 10, .delay_ms = 5};
    TRIBUTARY_TRY(in.number("seconds", step.seconds, kStepMin_s, kStepMax_s));
    TRIBUTARY_TRY(in.number("rate_mbit_s", step.rate_mbit_s, kRateMin_mbit_s, kRateMax_mbit_s));
    TRIBUTARY_TRY(in.number("delay_ms", step.delay_ms, 0, kDelayMax_ms));
    TRIBUTARY_TRY(in.refuse_others());
    links.steps.push_back(step);
  }
  TRIBUTARY_ASSIGN(const toml::table* const random, part.in.table("random"));
  if (random == nullptr) return {};
  TableReader in(*random, part.place + ": random");
  links.random.emplace();
  TRIBUTARY_TRY(in.span("seconds", links.random->seconds, kStepMin_s, kStepMax_s));
  TRIBUTARY_TRY(
      in.span("rate_mbit_s", links.random->rate_mbit_s, kRateMin_mbit_s, kRateMax_mbit_s));
  TRIBUTARY_TRY(in.span("delay_ms", links.random->delay_ms, kDelayMin_ms, kDelayMax_ms));
  return in.refuse_others();
}

Status read_links(Part& part, PlanLinkSettings& links) {
  TRIBUTARY_TRY(part.in.span("rate_mbit_s", links.rate_mbit_s, kRateMin_mbit_s, kRateMax_mbit_s));
  TRIBUTARY_TRY(part.in.span("delay_ms", links.delay_ms, kDelayMin_ms, kDelayMax_ms));
  TRIBUTARY_TRY(part.in.span("factor", links.factor, 1e-4, 1e4));
  TRIBUTARY_TRY(part.in.flag("staggered", links.staggered));
  TRIBUTARY_TRY(read_trace(part, links));
  const std::size_t traced = links.steps.size();
  TRIBUTARY_TRY(read_steps(part, links));
  const bool stepped = links.steps.size() > traced;
  if ((traced > 0 ? 1 : 0) + (stepped ? 1 : 0) + (links.random ? 1 : 0) > 1) {
    return wrong_setting(part.place, "one of trace, steps and random", "several",
                         "leave the others out");
  }
  return part.in.refuse_others();
}

Status read_uplinks(Part& part, PlanScenario& scenario) {
  return read_links(part, scenario.uplinks);
}
Status read_downlinks(Part& part, PlanScenario& scenario) {
  return read_links(part, scenario.downlinks.emplace());
}
Status read_peers(Part& part, PlanScenario& scenario) {
  TRIBUTARY_TRY(part.in.flag("reachable", scenario.peers_reachable));
  return read_links(part, scenario.peers.emplace());
}

Status read_first(Part& part, PlanScenario& scenario) {
  FirstChoice& first = scenario.first;
  std::string collective = "star";
  TRIBUTARY_TRY(part.in.text("codec", first.codec));
  TRIBUTARY_TRY(part.in.text("collective", collective));
  TRIBUTARY_TRY(part.in.count("bucket_values", first.bucket_values, std::uint64_t{64},
                              std::uint64_t{1} << 20));
  TRIBUTARY_ASSIGN(first.collective, parse_collective(collective));
  return part.in.refuse_others();
}

// Names of the planner's codecs and of collectives. The declared codecs are checked with them.
Status read_allowed(TableReader& in, const std::string& origin, PlanScenario& scenario) {
  std::vector<std::string> collectives;
  TRIBUTARY_TRY(in.texts("plan_codecs", scenario.plan_codecs));
  TRIBUTARY_TRY(in.texts("plan_collectives", collectives));
  for (const std::string& name : collectives) {
    TRIBUTARY_ASSIGN(scenario.plan_collectives.emplace_back(), parse_collective(name));
  }
  const std::vector<PlanCodec> codecs = declared_codecs();
  for (const std::string& spec : scenario.plan_codecs) {
    if (std::ranges::find(codecs, spec, &PlanCodec::spec) != codecs.end()) continue;
    return wrong_setting(origin + ": plan_codecs", "codecs of the planner", spec,
                         "tributary plan pareto prints them");
  }
  return {};
}

Status read_members(Part& part, PlanScenario& scenario) {
  TableReader& in = part.in;
  TRIBUTARY_TRY(in.count("slow_agents", scenario.slow_agents, 0u, scenario.agents));
  TRIBUTARY_TRY(in.number("slow_factor", scenario.slow_factor, 1e-4, 1));
  // At least one agent is always present.
  TRIBUTARY_TRY(in.count("visitors", scenario.visitors, 0u, scenario.agents - 1));
  TRIBUTARY_TRY(in.span("present_s", scenario.present_s, 1, kStepMax_s));
  TRIBUTARY_TRY(in.span("absent_s", scenario.absent_s, 1, kStepMax_s));
  return in.refuse_others();
}

Status read_hidden(Part& part, PlanScenario& scenario) {
  HiddenSettings& hidden = scenario.hidden;
  TableReader& in = part.in;
  TRIBUTARY_TRY(in.number("codec_time", hidden.codec_time, 0, kDeviationMax));
  TRIBUTARY_TRY(in.number("payload_size", hidden.payload_size, 0, kDeviationMax));
  TRIBUTARY_TRY(in.number("collective_time", hidden.collective_time, 0, kDeviationMax));
  TRIBUTARY_TRY(in.number("device_report", hidden.device_report, 0, kDeviationMax));
  TRIBUTARY_TRY(in.number("round_noise", hidden.round_noise, 0, kDeviationMax));
  TRIBUTARY_TRY(in.number("hiccups", hidden.hiccups, 0, 1));
  TRIBUTARY_TRY(in.span("hiccup", hidden.hiccup, 1, 1000));
  TRIBUTARY_TRY(in.span("overhead_ms", hidden.overhead_ms, 1e-3, kDelayMax_ms));
  return in.refuse_others();
}

// Every table is optional and keeps its defaults; unknown keys are errors.
Status read_everything(TableReader in, const std::string& origin, PlanScenario& scenario) {
  TRIBUTARY_TRY(in.text("name", scenario.name));
  TRIBUTARY_TRY(in.text("about", scenario.about));
  TRIBUTARY_TRY(in.count("agents", scenario.agents, 1u, 1024u));
  TRIBUTARY_TRY(in.count("values", scenario.values, std::uint64_t{64}, std::uint64_t{1} << 30));
  TRIBUTARY_TRY(in.number("goal", scenario.goal, 1, 1e6));
  TRIBUTARY_TRY(in.number("limit_s", scenario.limit_s, 1, 1e6));
  TRIBUTARY_TRY(in.span("training_ms", scenario.training_ms, 1e-3, kDelayMax_ms));
  TRIBUTARY_TRY(in.flag("train_ahead", scenario.train_ahead));
  TRIBUTARY_TRY(in.number("cpu_slowdown", scenario.cpu_slowdown, 0.01, 100));
  TRIBUTARY_TRY(in.number("coordinator_mbit_s", scenario.coordinator_mbit_s, 0, kRateMax_mbit_s));
  TRIBUTARY_TRY(in.flag("full", scenario.full));
  TRIBUTARY_TRY(read_allowed(in, origin, scenario));
  constexpr std::pair<std::string_view, Read> kParts[] = {
      {"first", read_first}, {"uplinks", read_uplinks}, {"downlinks", read_downlinks},
      {"peers", read_peers}, {"members", read_members}, {"hidden", read_hidden}};
  for (const auto& [key, read] : kParts) {
    TRIBUTARY_ASSIGN(const toml::table* const table, in.table(key));
    if (table == nullptr) continue;
    const std::string place = fmt::format("{}: {}", origin, key);
    Part part = {.in = TableReader(*table, place), .origin = origin, .place = place};
    TRIBUTARY_TRY(read(part, scenario));
  }
  const bool by_peers = scenario.peers_reachable && scenario.agents > 1;
  const bool left =
      scenario.plan_collectives.empty() ||
      std::ranges::any_of(scenario.plan_collectives, [&](wire::Collective kind) {
        return kind == wire::Collective::star || (by_peers && kind != wire::Collective::in_network);
      });
  if (!left) {
    return wrong_setting(origin + ": plan_collectives", "one that the agents can use", "none",
                         "add \"star\"");
  }
  return in.refuse_others();
}

}  // namespace

Status stopped_run(const PlanScenario& scenario) {
  return Status(StatusCode::cancelled, {.what = scenario.name,
                                        .expected = "the goal",
                                        .got = "a stop",
                                        .remedy = "start the command again"});
}

Result<PlanScenario> parse_plan_scenario(std::string_view text, std::string_view origin) {
  const std::string place(origin);
  TRIBUTARY_ASSIGN(const toml::table root, parse_scenario_table(text, place));
  PlanScenario scenario;
  scenario.name = place;
  TRIBUTARY_TRY(read_everything(TableReader(root, place), place, scenario));
  return scenario;
}

Result<PlanScenario> read_plan_scenario(const std::string& path) {
  TRIBUTARY_ASSIGN(const Bytes bytes, read_file(path, kPlanScenarioBytesMax));
  return parse_plan_scenario({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, path);
}

}  // namespace tributary
