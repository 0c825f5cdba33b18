#include "core/job/job_settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <utility>

#include "core/base/bytes/checksum.h"
#include "core/base/files/file.h"
#include "core/base/nearest.h"
#include "core/codec/registry.h"
#include "core/collective/collective_name.h"
#include "core/job/job_rules.h"
#include "core/optimizer/schedule.h"
#include "core/plan/search/measured_codecs.h"
#include "core/round/common/plan/job_model.h"
#include "core/train/model/network_plan.h"
#include "core/train/model_tools.h"
#include "core/update/layer_groups.h"
#include "schemas/enum_names.h"
#include "schemas/limits.h"

namespace tributary {
namespace {

// The values of the setting `exploring`; the first one is the default.
constexpr std::array<std::string_view, 2> kExplorings = {"off", "trials"};

// The coordinator holds several copies of a model, so a larger number is taken for a mistake.
constexpr std::uint64_t kParametersMax = std::uint64_t{1} << 33;

// The position of a word among its choices; an unknown word gets a suggestion.
Result<std::size_t> choice(std::string_view what, std::string_view given,
                           std::span<const std::string_view> choices) {
  for (std::size_t i = 0; i < choices.size(); ++i) {
    if (given == choices[i]) return i;
  }
  return Status(StatusCode::invalid_argument, {.what = fmt::format("job: {}", what),
                                               .expected = "one of the allowed words",
                                               .got = fmt::format("'{}'", given),
                                               .remedy = did_you_mean(given, choices)});
}

// One of a schema's enum, from `first` to its last value.
template <typename Enum>
Result<Enum> choice_of(std::string_view what, std::string_view given, Enum first,
                       const char* (*name)(Enum)) {
  TRIBUTARY_ASSIGN(const std::size_t place,
                   choice(what, given, wire::enum_names(first, Enum::MAX, name)));
  return wire::enum_value(first, place);
}

// One error for every mistake in a layer, because its format is short enough to be shown whole.
Status bad_layer(std::string_view text) {
  return Status(StatusCode::invalid_argument,
                {.what = "layer of a job",
                 .expected = "NAME:SIZExSIZE..., for example weights:64x32",
                 .got = fmt::format("'{}'", text),
                 .remedy = {}});
}

// The layers of a job without a trainer. Exactly one source of layers must be stated.
Result<LayerMap> layers_of(const JobSettings& job) {
  const int given = (job.layers.empty() ? 0 : 1) + (job.parameters == 0 ? 0 : 1) +
                    (job.model.empty() ? 0 : 1) + (job.model_file.empty() ? 0 : 1);
  if (given != 1) {
    return Status(StatusCode::invalid_argument,
                  {.what = "job",
                   .expected = "one of model, model_file, parameters and layers",
                   .got = given == 0 ? "none of them" : "more than one of them",
                   .remedy = {}});
  }
  std::vector<LayerShape> shapes;
  if (job.layers.empty()) shapes.push_back({.name = "parameters", .shape = {job.parameters}});
  for (const std::string& text : job.layers) {
    TRIBUTARY_ASSIGN(LayerShape shape, parse_layer(text));
    shapes.push_back(std::move(shape));
  }
  TRIBUTARY_ASSIGN(LayerMap map, LayerMap::make(std::move(shapes)));
  if (map.values() == 0 || map.values() > kParametersMax) {
    return Status(StatusCode::invalid_argument,
                  {.what = "job: layers",
                   .expected = fmt::format("1 to {} values", kParametersMax),
                   .got = fmt::format("{}", map.values()),
                   .remedy = {}});
  }
  return map;
}

// A spec is valid if its codec can be created.
Status check_codecs(const JobSettings& job) {
  TRIBUTARY_TRY(make_codec(start_codec(job)).status());
  for (const std::string& codec : job.policy.codecs) TRIBUTARY_TRY(make_codec(codec).status());
  return {};
}

// The rest of a plan bounds the number of groups, too: one that cannot be made pauses a job later.
Status check_fusion(const JobSettings& job, const wire::JobT& definition) {
  TRIBUTARY_ASSIGN(const LayerGrouping grouping, parse_layer_grouping(job.policy.fusion));
  if (!definition.layer_map) return {};
  const auto& layers = definition.layer_map->layers;
  const auto fused = static_cast<std::uint32_t>(
      std::ranges::count_if(layers, [](const auto& layer) { return !layer->exact; }));
  const bool optimal = grouping.rule == LayerGrouping::Rule::optimal;
  // An agent's profile has a number for each layer.
  const std::size_t groups = optimal ? layers.size() : group_layers(grouping, fused).size();
  const std::size_t most = optimal ? wire::kListItemsMax : wire::kBucketsMax;
  if (groups <= most) return {};
  return Status(StatusCode::invalid_argument,
                {.what = "job: fusion",
                 .expected = fmt::format("at most {} {}", most, optimal ? "layers" : "groups"),
                 .got = fmt::format("{} with fusion = \"{}\"", groups, job.policy.fusion),
                 .remedy = "take fusion = \"even:N\" with a smaller N"});
}

// Exploring needs a planner that may change the choice.
Result<double> exploring_share_of(const JobSettings& job) {
  TRIBUTARY_ASSIGN(const std::size_t mode, choice("exploring", job.exploring, kExplorings));
  if (mode == 0) return 0.0;
  if (job.planning == wire::EnumNamePlanGoal(wire::PlanGoal::fixed)) {
    return Status(StatusCode::invalid_argument,
                  {.what = "job: exploring",
                   .expected = "off, because the job has a fixed plan",
                   .got = fmt::format("'{}'", job.exploring),
                   .remedy = "set planning = \"adaptive\""});
  }
  return job.exploring_share;
}

// A planner's choice may be limited, but not away.
Status not_left(std::string_view what, std::string expected, std::string got, std::string remedy) {
  return Status(StatusCode::invalid_argument, {.what = fmt::format("job: {}", what),
                                               .expected = std::move(expected),
                                               .got = std::move(got),
                                               .remedy = std::move(remedy)});
}

// The codecs and collectives that the job leaves to its planner, after a check of their names.
Status set_allowed(const JobSettings& job, Planning& planning) {
  const std::vector<std::string_view> known = plannable_codecs();
  for (const std::string& codec : job.plan_codecs) {
    TRIBUTARY_TRY(choice("plan_codecs", codec, known).status());
  }
  planning.codecs = job.plan_codecs;
  for (const std::string& name : job.plan_collectives) {
    const Result<wire::Collective> kind = parse_collective(name);
    if (!kind.ok()) return Status(kind.status()).at("job: plan_collectives");
    planning.collectives.push_back(*kind);
  }
  const bool limited = !planning.codecs.empty() || !planning.collectives.empty();
  if (limited && job.planning == wire::EnumNamePlanGoal(wire::PlanGoal::fixed)) {
    return not_left(planning.codecs.empty() ? "plan_collectives" : "plan_codecs",
                    "a job with a planner", "planning = \"fixed\"",
                    "set planning = \"adaptive\", or name codec and collective");
  }
  const bool network_only = !planning.collectives.empty() &&
                            std::ranges::all_of(planning.collectives, [](wire::Collective kind) {
                              return kind == wire::Collective::in_network;
                            });
  if (network_only && !planning.codecs.empty() &&
      std::ranges::find(planning.codecs, kInNetworkCodec) == planning.codecs.end()) {
    return not_left(
        "plan_collectives", "a collective that one of plan_codecs can use", "\"in_network\" alone",
        fmt::format("add \"{}\" to plan_codecs, or another collective", kInNetworkCodec));
  }
  return {};
}

// Adds a setting for the trainer (core/train/training_job.h).
void set(wire::JobT& job, std::string key, std::string value) {
  auto setting = std::make_unique<wire::SettingT>();
  setting->key = std::move(key);
  setting->value = std::move(value);
  job.data.push_back(std::move(setting));
}

// Shape and layout of the examples travel as settings, which trainers parse
// (core/train/training_job.h). An agent of an earlier release refuses a key that it does not know,
// so defaults of the layout are left out.
void set_examples(const JobSettings& job, wire::JobT& definition) {
  set(definition, "task", job.examples.task);
  set(definition, "input", job.examples.input);
  set(definition, "classes", fmt::format("{}", job.examples.classes));
  set(definition, "outputs", fmt::format("{}", job.examples.outputs));
  set(definition, "epochs", fmt::format("{}", job.epochs));
  for (const auto& [key, text] :
       {std::pair("label", &job.layout.label), std::pair("separator", &job.layout.separator),
        std::pair("mean", &job.layout.mean), std::pair("deviation", &job.layout.deviation)}) {
    if (!text->empty()) set(definition, key, *text);
  }
}

// Strategy and schedule are sent as specs, after a check; the optimizer is sent as numbers.
Status set_optimizer(const JobSettings& job, wire::JobT& definition) {
  TRIBUTARY_ASSIGN(const OptimizerSettings optimizer, parse_optimizer(job.optimizer));
  TRIBUTARY_TRY(parse_strategy(job.strategy).status());
  TRIBUTARY_TRY(parse_schedule(job.schedule).status());
  definition.optimizer = std::make_unique<wire::OptimizerT>();
  wire::OptimizerT& made = *definition.optimizer;
  made.kind = static_cast<wire::OptimizerKind>(static_cast<int>(optimizer.kind) + 1);
  made.momentum = optimizer.momentum;
  made.beta1 = optimizer.beta1;
  made.beta2 = optimizer.beta2;
  made.epsilon = optimizer.epsilon;
  made.weight_decay = optimizer.weight_decay;
  made.second_moment_start = optimizer.second_moment_start;
  definition.strategy = job.strategy;
  definition.schedule = job.schedule;
  return {};
}

// Marks the layers from `first` on as buffers: they are averaged, and sent without compression.
void mark_buffers(std::size_t first, wire::LayerMapT& map) {
  for (std::size_t i = first; i < map.layers.size(); ++i) {
    map.layers[i]->kind = wire::LayerKind::buffer;
    map.layers[i]->exact = true;
  }
}

// The plan of a built-in network depends on the shape of the examples, which sets its first and
// last layer.
Result<NetworkPlan> plan_of(const JobSettings& job) {
  TRIBUTARY_ASSIGN(const ExampleShape input, parse_shape(job.examples));
  return plan_network(job.model, input);
}

// Sets the layers of a model that agents build from its spec.
Status set_network(const JobSettings& job, wire::JobT& definition) {
  TRIBUTARY_ASSIGN(const NetworkPlan plan, plan_of(job));
  TRIBUTARY_ASSIGN(const LayerMap layers, layer_map_of(plan));
  definition.layer_map = wire_layers(layers);
  mark_buffers(plan.parameters, *definition.layer_map);
  definition.model->name = plan.spec;
  set_examples(job, definition);
  return {};
}

// Sets layers and initial model from a TorchScript file.
Status set_script(const JobSettings& job, SubmitJob& submit) {
  // A bound on the memory for the file.
  constexpr std::uint64_t kScriptBytesMax = std::uint64_t{8} << 30;
  TRIBUTARY_ASSIGN(const ExampleShape input, parse_shape(job.examples));
  TRIBUTARY_ASSIGN(const Bytes file, read_file(job.model_file, kScriptBytesMax));
  TRIBUTARY_ASSIGN(const auto tools, make_model_tools({}));
  TRIBUTARY_ASSIGN(ScriptModel script, tools->read_script(file, job.model_file, input));
  wire::JobT& definition = submit.definition;
  definition.layer_map = wire_layers(script.layers);
  mark_buffers(script.parameters, *definition.layer_map);
  wire::ModelT& model = *definition.model;
  model.kind = wire::ModelKind::torchscript;
  model.name = std::filesystem::path(job.model_file).filename().string();
  model.artifact = std::make_unique<wire::ArtifactT>();
  model.artifact->name = model.name;
  model.artifact->bytes = file.size();
  model.artifact->hash = hash64(file);
  // A larger file does not travel with the job. Each agent then needs its own copy, which the hash
  // identifies.
  if (file.size() <= wire::kArtifactContentMax) {
    model.artifact->content.assign(file.begin(), file.end());
  }
  set_examples(job, definition);
  submit.model = std::make_shared<const FloatVector>(std::move(script.values));
  return {};
}

// True if the job names exactly one model and no other source of layers.
bool names_a_model(const JobSettings& job) {
  return job.layers.empty() && job.parameters == 0 && job.model.empty() != job.model_file.empty();
}

// The submission without the initial model.
Result<SubmitJob> described(const JobSettings& job) {
  if (job.name.empty() || job.rounds == 0) {
    return Status(StatusCode::invalid_argument,
                  {.what = "job",
                   .expected = "a name and a number of rounds",
                   .got = job.name.empty() ? "no name" : "no rounds",
                   .remedy = "set name and rounds; docs/jobs.md has examples"});
  }
  TRIBUTARY_ASSIGN(const auto mode, choice_of("mode", job.mode, wire::ExchangeMode::gradient,
                                              wire::EnumNameExchangeMode));
  TRIBUTARY_ASSIGN(
      const auto weighting,
      choice_of("weighting", job.weighting, wire::Weighting::equal, wire::EnumNameWeighting));
  SubmitJob submit;
  submit.policy = job.policy;
  // Before the codec of the first rounds, which may be one of these.
  TRIBUTARY_TRY(set_allowed(job, submit.policy.planning));
  TRIBUTARY_TRY(check_codecs(job));
  TRIBUTARY_TRY(parse_layout(job.layout).status());
  // The rules need codecs that exist. An optimizer that does not exist is reported by
  // set_optimizer().
  TRIBUTARY_TRY(check_rules(job));

  // All words are parsed before the layers: a mistyped word is reported without building a network.
  submit.policy.codec = start_codec(job);
  TRIBUTARY_ASSIGN(submit.policy.collective, parse_collective(job.collective));
  TRIBUTARY_ASSIGN(
      submit.policy.planning.goal,
      choice_of("planning", job.planning, wire::PlanGoal::fixed, wire::EnumNamePlanGoal));
  TRIBUTARY_ASSIGN(submit.policy.planning.exploring_share, exploring_share_of(job));
  TRIBUTARY_TRY(check(submit.policy));
  wire::JobT& definition = submit.definition;
  definition.name = job.name;
  definition.seed = job.seed;
  definition.mode = mode;
  definition.rounds = job.rounds;
  definition.weighting = weighting;
  definition.loss = job.loss;
  definition.batch_size = job.batch_size;
  definition.clip_norm = job.clip_norm;
  definition.clip_value = job.clip_value;
  definition.norm_max = job.norm_max;
  definition.evaluate_every_rounds = job.evaluate_every;
  TRIBUTARY_TRY(set_optimizer(job, definition));
  definition.model = std::make_unique<wire::ModelT>();
  definition.model->kind = wire::ModelKind::built_in;
  if (names_a_model(job)) {
    // The layers of a TorchScript become known when its file is read.
    TRIBUTARY_TRY(job.model.empty() ? parse_shape(job.examples).status()
                                    : set_network(job, definition));
    TRIBUTARY_TRY(check_fusion(job, definition));
    return submit;
  }
  TRIBUTARY_ASSIGN(const LayerMap layers, layers_of(job));
  definition.model->name = "synthetic";
  definition.layer_map = wire_layers(layers);
  TRIBUTARY_TRY(check_fusion(job, definition));
  return submit;
}

}  // namespace

// Ranges here reject mistyped numbers; check_job() checks combinations.
void bind_job(JobSettings& job, Settings& settings, const std::string& prefix) {
  // The unit of the longest waiting times, in ms.
  constexpr std::uint32_t kHourMs = 3'600'000;
  settings.text(prefix + "name", job.name);
  settings.number<std::uint64_t>(prefix + "rounds", job.rounds, 1, 1'000'000'000);
  settings.number<std::uint64_t>(prefix + "parameters", job.parameters, 1, kParametersMax);
  settings.texts(prefix + "layers", job.layers);
  settings.text(prefix + "mode", job.mode);
  settings.number<std::uint64_t>(prefix + "seed", job.seed, 0);
  settings.text(prefix + "weighting", job.weighting);
  settings.text(prefix + "model", job.model);
  settings.text(prefix + "model_file", job.model_file);
  settings.text(prefix + "task", job.examples.task);
  settings.text(prefix + "input", job.examples.input);
  settings.number(prefix + "classes", job.examples.classes, 1u, 65'536u);
  settings.number(prefix + "outputs", job.examples.outputs, 1u, 65'536u);
  settings.text(prefix + "label", job.layout.label);
  settings.text(prefix + "separator", job.layout.separator);
  settings.text(prefix + "mean", job.layout.mean);
  settings.text(prefix + "deviation", job.layout.deviation);
  settings.text(prefix + "loss", job.loss);
  settings.text(prefix + "optimizer", job.optimizer);
  settings.text(prefix + "strategy", job.strategy);
  settings.text(prefix + "schedule", job.schedule);
  settings.number(prefix + "batch_size", job.batch_size, 1u, 1u << 20);
  settings.number(prefix + "epochs", job.epochs, 0u, 100'000u);
  settings.real(prefix + "clip_norm", job.clip_norm, 0, 1e9);
  settings.real(prefix + "clip_value", job.clip_value, 0, 1e9);
  settings.real(prefix + "norm_max", job.norm_max, 0, 1e30);
  settings.number(prefix + "evaluate_every", job.evaluate_every, 0u);
  settings.text(prefix + "codec", job.policy.codec);
  settings.texts(prefix + "codecs", job.policy.codecs);
  settings.text(prefix + "collective", job.collective);
  settings.text(prefix + "planning", job.planning);
  settings.texts(prefix + "plan_codecs", job.plan_codecs);
  settings.texts(prefix + "plan_collectives", job.plan_collectives);
  settings.text(prefix + "exploring", job.exploring);
  settings.real(prefix + "exploring_share", job.exploring_share, 0, kExploringShareMax);
  settings.real(prefix + "time_budget_s", job.policy.planning.time_budget_s, 0, 1e9);
  settings.real(prefix + "bytes_per_day", job.policy.planning.bytes_per_day, 0, 1e18);
  settings.real(prefix + "gain_weight", job.policy.planning.gain_weight, 0, 100);
  settings.real(prefix + "gain_min", job.policy.planning.gain_min, 0, 1);
  settings.number(prefix + "exchanges_per_round", job.policy.exchanges_per_round, 1u,
                  wire::kExchangesPerRoundMax);
  settings.number<std::uint64_t>(prefix + "bucket_values", job.policy.bucket_values_max, 64,
                                 wire::kBucketValuesMax);
  settings.number<std::uint64_t>(prefix + "layer_values", job.policy.layer_values_max, 64,
                                 wire::kBucketValuesMax);
  settings.text(prefix + "fusion", job.policy.fusion);
  settings.real(prefix + "learning_rate", job.policy.learning_rate, 0, 1e9);
  settings.number(prefix + "local_steps", job.policy.local_steps, 1u);
  settings.number(prefix + "agents_min", job.policy.agents_min, 1u, 16'384u);
  settings.texts(prefix + "agents", job.policy.agents);
  settings.real(prefix + "fraction", job.policy.fraction, 1e-6, 1);
  settings.real(prefix + "weight_cap", job.policy.weight_cap, 1, 1e12);
  settings.real(prefix + "quorum", job.policy.quorum_fraction, 0, 1);
  settings.number(prefix + "grace_ms", job.policy.grace_ms, 0u, kHourMs);
  settings.real(prefix + "grace_factor", job.policy.grace_factor, 0, 1000);
  settings.number(prefix + "deadline_ms", job.policy.deadline_ms, 1u, 24 * kHourMs);
  settings.number(prefix + "preliminary_deadline_ms", job.policy.preliminary_deadline_ms, 1u,
                  24 * kHourMs);
  settings.number(prefix + "retry_after_ms", job.policy.retry_after_ms, 1u, kHourMs);
  settings.number(prefix + "catch_up_wait_ms", job.policy.catch_up_wait_ms, 0u, kHourMs);
  settings.number(prefix + "checkpoint_rounds", job.policy.checkpoint_rounds, 1u);
  settings.real(prefix + "checkpoint_redo_models", job.policy.checkpoint_redo_models, 0, 1e9);
}

// The name may contain colons, so the last one separates it from the sizes.
Result<LayerShape> parse_layer(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  if (colon == 0 || colon == std::string_view::npos) return bad_layer(text);
  LayerShape shape{.name = std::string(text.substr(0, colon)), .shape = {}};
  std::string_view sizes = text.substr(colon + 1);
  while (true) {
    std::uint64_t size = 0;
    const auto [end, error] = std::from_chars(sizes.data(), sizes.data() + sizes.size(), size);
    if (error != std::errc()) return bad_layer(text);
    shape.shape.push_back(size);
    sizes.remove_prefix(static_cast<std::size_t>(end - sizes.data()));
    if (sizes.empty()) return shape;
    if (sizes.front() != 'x') return bad_layer(text);
    sizes.remove_prefix(1);
  }
}

// A planned job begins with small payloads, because nothing is known of its links yet.
std::string start_codec(const JobSettings& job) {
  if (!job.policy.codec.empty()) return job.policy.codec;
  const bool fixed = job.planning == wire::EnumNamePlanGoal(wire::PlanGoal::fixed);
  if (fixed) return RoundPolicy().codec;
  const std::vector<std::string>& allowed = job.plan_codecs;
  const bool usual =
      allowed.empty() || std::ranges::find(allowed, kFirstPlannedCodec) != allowed.end();
  return usual ? std::string(kFirstPlannedCodec) : allowed.front();
}

Status check_job(const JobSettings& job) { return described(job).status(); }

// The three sources of an initial model.
Result<SubmitJob> submission(const JobSettings& job) {
  TRIBUTARY_ASSIGN(SubmitJob submit, described(job));
  if (!names_a_model(job)) {
    TRIBUTARY_ASSIGN(const LayerMap layers, layers_of(job));
    submit.model = std::make_shared<const FloatVector>(layers.values(), 0.0f);
  } else if (job.model.empty()) {
    TRIBUTARY_TRY(set_script(job, submit));
    TRIBUTARY_TRY(check_fusion(job, submit.definition));
  } else {
    TRIBUTARY_ASSIGN(const NetworkPlan plan, plan_of(job));
    submit.model = std::make_shared<const FloatVector>(initial_model(plan, job.seed));
  }
  return submit;
}

}  // namespace tributary
