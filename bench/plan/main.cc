// tributary-bench-plan: the requirements for the planner. Table VI of the AR-Topk paper, the time
// of a plan, and a plan that follows a changing link compared with plans that never change.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "bench/plan/changing_link.h"
#include "bench/plan/table_six.h"
#include "core/base/clock.h"
#include "core/codec/gcomp/captured_testing.h"
#include "core/plan/search/measured_codecs.h"

namespace tributary::bench {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::uint32_t kAgents = 4;
constexpr double kAgreement = 0.6;
constexpr double kSecondsPerStep = 20;  // per second of a trace, which stretches its epochs
constexpr double kDecideGoal_s = 0.05;

struct Arguments {
  std::string traces;
  std::string captures;
  bool json = false;
  bool reasons = false;
};

struct ModelSize {
  std::uint64_t values;
  double compute_s;
};
constexpr ModelSize kModels[] = {{1u << 20, 0.05}, {8u << 20, 0.3}};

// The fixed choices for comparison; a ratio is given if the codec has one.
struct Fixed {
  std::string_view codec;
  double ratio = 1;
};
constexpr Fixed kFixed[] = {
    {"fp32"},           {"fp16"},           {"thc:bits=4"},      {"threelc"},
    {"threelc:s=1.75"}, {"gcomp"},          {"topk", 0.1},       {"topk", 0.01},
    {"topk", 0.001},    {"star_topk", 0.1}, {"star_topk", 0.01}, {"star_topk", 0.001}};

Result<std::vector<PlanCodec>> measured_codecs(const Clock& clock) {
  std::vector<PlanCodec> codecs;
  for (const std::string_view spec : kPlannedCodecs) {
    TRIBUTARY_ASSIGN(PlanCodec codec, measure_plan_codec(spec, {.agents = kAgents}, clock));
    codecs.push_back(std::move(codec));
  }
  return codecs;
}

// Gain curves of the convnet's captured gradients, in the order of its training.
std::vector<GainPoints> captured_gains(const std::string& folder) {
  std::vector<GainPoints> gains;
  for (const gcomp_testing::Capture& capture : gcomp_testing::captures(folder)) {
    if (!capture.name.starts_with("convnet-sgd")) continue;
    gains.push_back(gain_points_of(sparse::GainCurve({}, capture.gradient())));
  }
  return gains;
}

// --- time of plans -------------------------------------------------------------------------------

// Times decisions for different numbers of agents; the median of eleven.
Json time_plans(const PlanInputs& four, const Clock& clock) {
  Json rows = Json::array();
  for (const std::size_t agents : {std::size_t{4}, std::size_t{64}, std::size_t{1024}}) {
    PlanInputs inputs = four;
    inputs.agents.assign(agents, four.agents.front());
    inputs.agents.front().beta_s_per_byte *= 4;  // differing links cost more time
    std::vector<double> seconds;
    for (int i = 0; i < 11; ++i) {
      const auto start = clock.now();
      const Result<PlanDecision> decision = decide(inputs);
      seconds.push_back(std::chrono::duration<double>(clock.now() - start).count());
      if (!decision.ok() || decision->options.empty()) return Json();
    }
    std::ranges::sort(seconds);
    rows.push_back(
        {{"agents", agents}, {"median_s", seconds[seconds.size() / 2]}, {"goal_s", kDecideGoal_s}});
  }
  return rows;
}

// --- adaptive compared with fixed ----------------------------------------------------------------

PlanChoice choice_of(const PlanInputs& inputs, const Fixed& fixed, wire::Collective kind,
                     std::uint64_t bucket_values) {
  const auto codec = std::ranges::find(inputs.codecs, fixed.codec, &PlanCodec::spec);
  return make_choice(*codec, kind, fixed.ratio, bucket_values);
}

// The best fixed choice over all collectives and some bucket sizes, which is known only in
// hindsight.
PlanChoice best_in_hindsight(const ChangingLink& world, const Fixed& fixed, double seconds) {
  PlanChoice best;
  double most = -1;
  for (const wire::Collective kind : kCollectives) {
    for (const std::uint64_t bucket : {1u << 14, 1u << 16, 1u << 18}) {
      const PlanChoice choice = choice_of(world.inputs, fixed, kind, bucket);
      const double gain = gain_after(world, choice, seconds);
      if (gain > most) {
        most = gain;
        best = choice;
      }
    }
  }
  return best;
}

// The target is the gain that the best fixed choice reaches within one period of the trace. All
// choices then run until they reach it.
Json compare(const ChangingLink& world, std::string_view trace) {
  const double period_s =
      world.seconds_per_step * std::chrono::duration<double>(world.trace.lasts()).count();
  std::vector<PlanChoice> choices;
  double target = 0;  // gain that the best of them reaches within the trace
  for (const Fixed& fixed : kFixed) {
    choices.push_back(best_in_hindsight(world, fixed, period_s));
    target = std::max(target, gain_after(world, choices.back(), period_s));
  }
  Json courses = Json::array();
  std::vector<double> seconds;
  for (const PlanChoice& choice : choices) {
    const Course course = run_fixed(world, choice, target);
    seconds.push_back(course.seconds);
    courses.push_back(
        {{"name", course.name}, {"seconds", course.seconds}, {"rounds", course.rounds}});
  }
  const Course adaptive = run_adaptive(world, target);
  courses.push_back({{"name", adaptive.name},
                     {"seconds", adaptive.seconds},
                     {"rounds", adaptive.rounds},
                     {"switches", adaptive.switches},
                     {"reasons", adaptive.reasons}});
  std::ranges::sort(seconds);
  const double median = (seconds[seconds.size() / 2 - 1] + seconds[seconds.size() / 2]) / 2;
  return {{"trace", trace},
          {"values", world.inputs.values},
          {"to_best_fixed", adaptive.seconds / seconds.front()},
          {"to_median_fixed", adaptive.seconds / median},
          {"courses", std::move(courses)}};
}

// --- all parts -----------------------------------------------------------------------------------

Json table_six_json() {
  Json rows = Json::array();
  for (const TableSixRow& row : table_six()) {
    rows.push_back({{"model", row.model},
                    {"gbps", row.gbps},
                    {"ratio", row.ratio},
                    {"measured", row.measured},
                    {"predicted", row.predicted}});
  }
  return rows;
}

Result<Json> everything(const Arguments& arguments) {
  const SystemClock clock;
  TRIBUTARY_ASSIGN(std::vector<PlanCodec> codecs, measured_codecs(clock));
  PlanInputs inputs = {.values = kModels[0].values};
  inputs.agents.assign(kAgents, {});
  inputs.codecs = std::move(codecs);
  inputs.peers_reachable = true;
  inputs.agreement = kAgreement;
  const std::vector<GainPoints> gains = captured_gains(arguments.captures);
  if (gains.empty()) {
    return Status(
        StatusCode::not_found,
        {.what = arguments.captures, .expected = "captured gradients of a convnet", .got = "none"});
  }
  Json data;
  data["table_six"] = table_six_json();
  PlanInputs timed = inputs;
  timed.agents.assign(kAgents, {.alpha_s = 0.01, .beta_s_per_byte = 8e-8, .gain = gains[0]});
  data["plan_times"] = time_plans(timed, clock);
  data["changing_link"] = Json::array();
  for (const std::string_view name : {"c1", "c2"}) {
    for (const ModelSize& model : kModels) {
      TRIBUTARY_ASSIGN(LinkTrace trace,
                       LinkTrace::read(fmt::format("{}/{}.csv", arguments.traces, name)));
      inputs.values = model.values;
      for (PlanAgent& agent : inputs.agents) agent.compute_s = model.compute_s;
      data["changing_link"].push_back(compare({.trace = std::move(trace),
                                               .seconds_per_step = kSecondsPerStep,
                                               .inputs = inputs,
                                               .gains = gains},
                                              name));
    }
  }
  return data;
}

void print(const Json& data, bool reasons) {
  std::size_t right = 0;
  for (const Json& row : data["table_six"]) right += row["measured"] == row["predicted"];
  fmt::print("AR-Topk's Table VI: {} of {} choices as measured there\n", right,
             data["table_six"].size());
  for (const Json& row : data["plan_times"]) {
    fmt::print("a plan for {} agents: {:.1f} ms (goal {:.0f})\n", row["agents"].get<int>(),
               row["median_s"].get<double>() * 1e3, row["goal_s"].get<double>() * 1e3);
  }
  for (const Json& world : data["changing_link"]) {
    fmt::print("\ntrace {}, {} values: seconds until the same gain\n",
               world["trace"].get<std::string>(), world["values"].get<std::uint64_t>());
    for (const Json& course : world["courses"]) {
      fmt::print("  {:40} {:9.1f} s {:8} rounds\n", course["name"].get<std::string>(),
                 course["seconds"].get<double>(), course["rounds"].get<std::uint64_t>());
    }
    fmt::print(
        "  adaptive: {} switches, {:.3f} of the best fixed (goal 1.05), {:.3f} of the median "
        "(goal 0.75)\n",
        world["courses"].back()["switches"].get<std::uint64_t>(),
        world["to_best_fixed"].get<double>(), world["to_median_fixed"].get<double>());
    if (!reasons) continue;
    for (const Json& reason : world["courses"].back()["reasons"]) {
      fmt::print("    {}\n", reason.get<std::string>());
    }
  }
}

int run(int argc, char** argv) {
  Arguments arguments;
  CLI::App app(
      "What the planner is held to: choices, the time they take, and what they are worth.");
  app.add_option("--traces", arguments.traces, "folder of c1.csv and c2.csv")
      ->required()
      ->check(CLI::ExistingDirectory);
  app.add_option("--captures", arguments.captures, "folder of captured gradients")
      ->required()
      ->check(CLI::ExistingDirectory);
  app.add_flag("--reasons", arguments.reasons, "every switch with its sentence");
  app.add_flag("--json", arguments.json, "one JSON object");
  CLI11_PARSE(app, argc, argv);
  const Result<Json> data = everything(arguments);
  if (!data.ok()) {
    fmt::print(stderr, "tributary-bench-plan: {}\n", data.status().text());
    return 1;
  }
  if (arguments.json) {
    fmt::print("{}\n", Json({{"schema_version", 1}, {"status", "ok"}, {"data", *data}}).dump());
  } else {
    print(*data, arguments.reasons);
  }
  return 0;
}

}  // namespace
}  // namespace tributary::bench

int main(int argc, char** argv) { return tributary::bench::run(argc, argv); }
