// tributary plan pareto: runs the planner on given inputs and prints the Pareto set.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/accept.h"
#include "cli/commands.h"
#include "cli/json.h"
#include "cli/text.h"
#include "core/base/files/file.h"
#include "core/codec/thc/gain/rate_gain.h"
#include "core/collective/collective_name.h"
#include "core/plan/decide.h"
#include "core/plan/inputs_text.h"
#include "core/plan/search/measured_codecs.h"
#include "core/update/synthetic.h"

namespace tributary {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::uint32_t kParetoAgentsMax = 1024;
// Size of a synthetic gradient, which is used to measure the gain.
constexpr std::uint64_t kGradientValuesMax = 1u << 20;
constexpr std::uint64_t kGradientBytesMax = std::uint64_t{4} << 30;
// The share of a gradient's largest values whose positions are compared between agents.
constexpr double kAgreementRatio = 0.01;

// Units are those of the options: ms, 10^9 bit/s, s. 0 stands for an option that was not given.
struct ParetoRequest {
  std::string file;  // replaces all following fields
  double alpha_ms = 0;
  double gbps = 0;
  double hub_gbps = 0;  // 0: the same as the agents'
  double compute_ms = 0;
  std::uint64_t params = 0;
  std::uint32_t agents = 0;
  bool star_only = false;
  std::vector<std::string> gradients;
  std::vector<std::unique_ptr<Codec>> codecs;
  std::vector<wire::Collective> collectives;
  double time_budget_s = 0;
  double bytes_per_day = 0;
  std::uint64_t rounds = 0;
  double gain_weight = 1;
  double gain_min = 0.05;
};

// These options are required unless --in replaces them, which the parser cannot express.
Status missing(std::string_view option) {
  return Status(StatusCode::invalid_argument,
                {.what = std::string(option),
                 .expected = "a value",
                 .got = "none",
                 .remedy = "give --alpha-ms, --gbps, --params and --agents, or --in FILE"});
}

Status check_request(const ParetoRequest& request) {
  if (request.gbps == 0) return missing("--gbps");
  if (request.params == 0) return missing("--params");
  if (request.agents == 0) return missing("--agents");
  const std::vector<wire::Collective>& kinds = request.collectives;
  if (request.star_only && !kinds.empty() &&
      std::ranges::find(kinds, wire::Collective::star) == kinds.end()) {
    return Status(StatusCode::invalid_argument,
                  {.what = "--collective",
                   .expected = "one that agents can use which cannot reach each other",
                   .got = wire::EnumNameCollective(kinds.front()),
                   .remedy = "give --collective star, or leave out --star-only"});
  }
  if ((request.time_budget_s > 0 || request.bytes_per_day > 0) && request.rounds == 0) {
    return Status(StatusCode::invalid_argument, {.what = "a budget",
                                                 .expected = "the number of rounds",
                                                 .got = "none",
                                                 .remedy = "give --rounds N as well"});
  }
  return {};
}

// Files hold raw float32, one gradient per agent. Without files, up to four synthetic gradients
// stand for all agents.
Result<std::vector<FloatVector>> gradients_of(const ParetoRequest& request) {
  std::vector<FloatVector> gradients;
  for (const std::string& path : request.gradients) {
    TRIBUTARY_ASSIGN(FloatVector gradient, read_f32_file(path, kGradientBytesMax));
    if (gradient.empty() || (!gradients.empty() && gradient.size() != gradients[0].size())) {
      return Status(StatusCode::mismatch,
                    {.what = path,
                     .expected = "as many values as in the first file, at least one",
                     .got = fmt::format("{}", gradient.size())});
    }
    gradients.push_back(std::move(gradient));
  }
  const bool made_up = gradients.empty();
  for (std::uint32_t agent = 0; made_up && agent < std::min(request.agents, 4u); ++agent) {
    FloatVector& gradient = gradients.emplace_back(std::min(request.params, kGradientValuesMax));
    fill_agent_gradient({.seed = 1}, agent, gradient);
  }
  return gradients;
}

// A budget of time takes precedence over one of bytes. The whole day's bytes count as left.
PlanPolicy policy_of(const ParetoRequest& request) {
  PlanPolicy policy = {.gain_weight = request.gain_weight,
                       .gain_min = request.gain_min,
                       .collectives = request.collectives};
  policy.rounds_left = request.rounds;
  if (request.time_budget_s > 0) {
    policy.goal = wire::PlanGoal::time_budget;
    policy.budget_s = request.time_budget_s;
  } else if (request.bytes_per_day > 0) {
    policy.goal = wire::PlanGoal::byte_budget;
    policy.bytes_left_today = request.bytes_per_day;
  }
  return policy;
}

// Measured on this machine. Without --codec these are the codecs among which the planner chooses.
Result<std::vector<PlanCodec>> codecs_of(const ParetoRequest& request, World& world) {
  std::vector<std::string> specs(std::begin(kPlannedCodecs), std::end(kPlannedCodecs));
  if (!request.codecs.empty()) specs.clear();
  for (const auto& codec : request.codecs) specs.push_back(codec->spec());
  std::vector<PlanCodec> codecs;
  for (const std::string& spec : specs) {
    TRIBUTARY_ASSIGN(PlanCodec codec,
                     measure_plan_codec(spec, {.agents = request.agents}, world.clock));
    codecs.push_back(std::move(codec));
  }
  return codecs;
}

// The gain of THC's rates, as agents report it.
Result<std::map<std::string, double>> rate_gains_of(const ParetoRequest& request,
                                                    std::span<const float> gradient) {
  TRIBUTARY_ASSIGN(const std::vector<double> gains,
                   thc::gains_of_rates({}, gradient, request.agents, thc::kGainRates));
  std::map<std::string, double> by_spec;
  for (std::size_t i = 0; i < gains.size(); ++i) {
    by_spec[thc::spec_of_rate(thc::kGainRates[i])] = gains[i];
  }
  return by_spec;
}

Result<PlanInputs> inputs_of(const ParetoRequest& request, World& world) {
  if (!request.file.empty()) {
    TRIBUTARY_ASSIGN(const Bytes content, read_file(request.file, kPlanInputsBytesMax));
    return parse_plan_inputs({reinterpret_cast<const char*>(content.data()), content.size()});
  }
  TRIBUTARY_TRY(check_request(request));
  PlanInputs inputs = {.values = request.params, .policy = policy_of(request)};
  // Seconds per byte of a link with this many 10^9 bit/s.
  const double beta = 8e-9 / request.gbps;
  TRIBUTARY_ASSIGN(const std::vector<FloatVector> gradients, gradients_of(request));
  TRIBUTARY_ASSIGN(const auto rate_gains, rate_gains_of(request, gradients.front()));
  // All agents are the same. The gain is that of the first gradient.
  inputs.agents.assign(request.agents,
                       {.alpha_s = request.alpha_ms * 1e-3,
                        .beta_s_per_byte = beta,
                        .compute_s = request.compute_ms * 1e-3,
                        .gain = gain_points_of(sparse::GainCurve({}, gradients.front())),
                        .tried = rate_gains});
  if (gradients.size() > 1) {
    const std::vector<std::span<const float>> spans(gradients.begin(), gradients.end());
    inputs.agreement = agreement_of(spans, kAgreementRatio);
  }
  inputs.peer_alpha_s = request.alpha_ms * 1e-3;
  inputs.peer_beta_s_per_byte = beta;
  inputs.hub_beta_s_per_byte = request.hub_gbps > 0 ? 8e-9 / request.hub_gbps : beta;
  inputs.peers_reachable = !request.star_only;
  TRIBUTARY_ASSIGN(inputs.codecs, codecs_of(request, world));
  return inputs;
}

// Seconds and bytes of one round; the gain is a share.
Json cost_json(const PlanCost& cost) {
  return {{"compress_s", cost.compress_s}, {"exchange_s", cost.exchange_s},
          {"round_s", cost.round_s},       {"bytes_up", cost.bytes_up},
          {"bytes_down", cost.bytes_down}, {"gain", cost.gain}};
}

Json option_json(const PlanOption& option) {
  Json json = {{"codec", option.choice.codec},
               {"collective", wire::EnumNameCollective(option.choice.collective)},
               {"ratio", option.choice.ratio},
               {"bucket_values", option.choice.bucket_values}};
  json.update(cost_json(option.cost));
  return json;
}

// The name that `trigger` had before it took the schema's names. Kept for one release as the key
// `trigger_old`. The old names `cost` and `impossible` are part of `link` and `membership`.
std::string_view old_trigger_name(wire::Trigger trigger) {
  switch (trigger) {
    case wire::Trigger::first_round:
      return "first";
    case wire::Trigger::unchanged:
      return "none";
    case wire::Trigger::link_changed:
      return "link";
    case wire::Trigger::gain_changed:
      return "gain";
    case wire::Trigger::membership_changed:
      return "membership";
    case wire::Trigger::exploration:
      return "exploring";
    default:
      return "unknown";
  }
}

Json decision_json(const PlanInputs& inputs, const PlanDecision& decision, double planned_s) {
  Json pareto = Json::array();
  for (const PlanOption& option : decision.options) pareto.push_back(option_json(option));
  Json data = {{"choice", option_json(decision.chosen)},
               {"reason", decision.reason},
               {"trigger", wire::EnumNameTrigger(decision.trigger)},
               {"trigger_old", old_trigger_name(decision.trigger)},
               {"switched", decision.switched},
               {"over_budget", decision.over_budget},
               {"pause_s", decision.pause_s},
               {"ratios", decision.ratios},
               {"pareto", std::move(pareto)},
               {"planned_s", planned_s}};
  // The complete inputs, so that --in reproduces the decision on another machine.
  data["inputs"] = Json::parse(text_of(inputs));
  return data;
}

// An asterisk marks the choice in the table and its reason below.
std::string decision_text(const PlanDecision& decision, double planned_s) {
  Table table({"codec", "collective", "bucket", "compress", "exchange", "round", "gain"});
  for (const PlanOption& option : decision.options) {
    const PlanChoice& choice = option.choice;
    const bool chosen = choice == decision.chosen.choice;
    table.add({(chosen ? "* " : "  ") + choice.codec, wire::EnumNameCollective(choice.collective),
               count_text(choice.bucket_values), seconds_text(option.cost.compress_s),
               seconds_text(option.cost.exchange_s), seconds_text(option.cost.round_s),
               fmt::format("{:.3f}", option.cost.gain)});
  }
  return fmt::format("{}\n* {}\nplanned in {}\n", table.text(), decision.reason,
                     seconds_text(planned_s));
}

Result<Answer> pareto(const ParetoRequest& request, World& world) {
  TRIBUTARY_ASSIGN(const PlanInputs inputs, inputs_of(request, world));
  // Only the decision is timed, not the measurement of the codecs.
  const auto start = world.clock.now();
  TRIBUTARY_ASSIGN(const PlanDecision decision, decide(inputs));
  const double planned_s = std::chrono::duration<double>(world.clock.now() - start).count();
  return Answer{.text = decision_text(decision, planned_s),
                .data = json_text(decision_json(inputs, decision, planned_s))};
}

}  // namespace

Command plan_pareto_command() {
  const auto request = std::make_shared<ParetoRequest>();
  return {
      .noun = "plan",
      .verb = "pareto",
      .summary = "print the Pareto front of codecs and collectives, and the choice",
      .details =
          "Codecs are measured on this machine. With --in nothing is measured: the file contains\n"
          "the `inputs` of the JSON output or of the journal, and gives the same plan again. Gain\n"
          "is the share of the update's energy that is sent, computed from --gradient files or\n"
          "from a synthetic gradient.\n\n"
          "examples:\n"
          "  tributary plan pareto --alpha-ms 10 --gbps 0.1 --params 25M --agents 4\n"
          "  tributary plan pareto --alpha-ms 10 --gbps 0.1 --params 25M --agents 4 \\\n"
          "      --rounds 1000 --time-budget 600\n"
          "  tributary plan pareto --in inputs.json --json",
      .options = {{.name = "--in",
                   .value_name = "FILE",
                   .help = "inputs of a plan as JSON, instead of all other options",
                   .accept = accept_file(request->file)},
                  {.name = "--alpha-ms",
                   .value_name = "MS",
                   .help = "one-way latency between agents and to the coordinator (0)",
                   .accept = accept_real(request->alpha_ms, 0, 1e5)},
                  {.name = "--gbps",
                   .value_name = "G",
                   .help = "rate of an agent's link in each direction, in Gbit/s",
                   .accept = accept_real(request->gbps, 1e-6, 1e4)},
                  {.name = "--hub-gbps",
                   .value_name = "G",
                   .help = "rate of the coordinator's link (the agents' rate)",
                   .accept = accept_real(request->hub_gbps, 1e-6, 1e4)},
                  {.name = "--params",
                   .value_name = "M",
                   .help = "number of model parameters",
                   .accept = accept_count<std::uint64_t>(request->params, 1, 1ull << 36)},
                  {.name = "--agents",
                   .value_name = "N",
                   .help = "number of agents",
                   .accept = accept_count(request->agents, 1u, kParetoAgentsMax)},
                  {.name = "--compute-ms",
                   .value_name = "MS",
                   .help = "training time of a round, before the exchange (0)",
                   .accept = accept_real(request->compute_ms, 0, 1e9)},
                  {.name = "--star-only",
                   .value_name = {},
                   .help = "agents cannot reach each other",
                   .accept = accept_flag(request->star_only)},
                  {.name = "--gradient",
                   .value_name = "FILE",
                   .help = "gradient of an agent, raw float32; several give their similarity",
                   .accept = accept_files(request->gradients),
                   .repeatable = true},
                  {.name = "--codec",
                   .value_name = "SPEC",
                   .help = "consider only this codec; may be repeated",
                   .accept = accept_codecs(request->codecs),
                   .repeatable = true},
                  {.name = "--collective",
                   .value_name = "NAME",
                   .help = "consider only this collective; may be repeated",
                   .accept = [request](const std::string& name) -> Status {
                     TRIBUTARY_ASSIGN(const wire::Collective kind, parse_collective(name));
                     request->collectives.push_back(kind);
                     return {};
                   },
                   .repeatable = true},
                  {.name = "--rounds",
                   .value_name = "N",
                   .help = "number of rounds of the budget",
                   .accept = accept_count<std::uint64_t>(request->rounds, 1, 1ull << 40)},
                  {.name = "--time-budget",
                   .value_name = "S",
                   .help = "seconds for all rounds; maximizes the gain within them",
                   .accept = accept_real(request->time_budget_s, 1e-6, 1e9)},
                  {.name = "--bytes-per-day",
                   .value_name = "B",
                   .help = "bytes per day on an agent's link, both directions together",
                   .accept = accept_real(request->bytes_per_day, 1, 1e18)},
                  {.name = "--gain-weight",
                   .value_name = "W",
                   .help = "weight of gain against time (1)",
                   .accept = accept_real(request->gain_weight, 0, 100)},
                  {.name = "--gain-min",
                   .value_name = "G",
                   .help = "smallest acceptable gain, if any choice reaches it (0.05)",
                   .accept = accept_real(request->gain_min, 0, 1)}},
      .run = [request](World& world) { return pareto(*request, world); }};
}

}  // namespace tributary
