// The frames of a coordinator's journal for tests: a job and its plans, as small as the schema
// allows.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/round/common/machine/records.h"
#include "core/update/layer_map.h"
#include "schemas/frame.h"

namespace tributary::run_testing {

constexpr std::uint64_t kJob = 0xfedcba9876543210u;  // negative as a signed number in the file
constexpr std::uint32_t kParameters = 1000;

// Null if the frame violates a rule of its schema.
inline SharedBytes framed(wire::FrameT frame) {
  frame.message_id = 1;
  frame.session = 1;
  const Result<Bytes> bytes = build_frame(frame);
  return bytes.ok() ? std::make_shared<Bytes>(*bytes) : nullptr;
}

inline SharedBytes definition(const std::string& name, std::uint32_t parameters = kParameters) {
  wire::JobT job;
  job.job = kJob;
  job.revision = 1;
  job.name = name;
  job.state = wire::JobState::running;
  job.mode = wire::ExchangeMode::gradient;
  job.rounds = 20;
  job.weighting = wire::Weighting::equal;
  job.model = std::make_unique<wire::ModelT>();
  job.model->kind = wire::ModelKind::built_in;
  job.model->name = "lenet";
  job.optimizer = std::make_unique<wire::OptimizerT>();
  job.optimizer->kind = wire::OptimizerKind::sgd;
  job.layer_map = std::make_unique<wire::LayerMapT>();
  job.layer_map->hash = LayerMap::make({{.name = "weight", .shape = {parameters}}})->hash();
  auto layer = std::make_unique<wire::LayerT>();
  layer->name = "weight";
  layer->values = parameters;
  layer->shape = {parameters};
  layer->kind = wire::LayerKind::parameter;
  job.layer_map->layers.push_back(std::move(layer));
  return framed(frame_with(std::move(job)));
}

// The contents of a plan that tests vary.
struct PlanOptions {
  std::string codec = "thc:bits=4";
  double ratio = 1;
  double predicted_s = 0.5;
  wire::Trigger trigger = wire::Trigger::unchanged;
  std::string sentence = "as before";
  std::vector<double> ratios = {};  // one per member
  std::uint32_t members = 3;
  std::uint32_t buckets = 2;
  bool decided = false;                      // with the alternatives of the decision
  std::string inputs = "{\"values\":1000}";  // of the planner, if decided
  wire::Collective collective = wire::Collective::star;
};

inline std::unique_ptr<wire::ExchangeT> exchange(
    const std::string& codec, double ratio, wire::Collective collective = wire::Collective::star) {
  auto out = std::make_unique<wire::ExchangeT>();
  out->codec = codec;
  out->aggregation = wire::Aggregation::sum;
  out->collective = collective;
  out->ratio = ratio;
  out->payload_bytes = 4096;
  auto stage = std::make_unique<wire::StageT>();
  stage->name = "sum";
  stage->combine = wire::Combine::sum;
  out->stages.push_back(std::move(stage));
  return out;
}

inline std::unique_ptr<wire::ReasonT> reason(const PlanOptions& options) {
  auto out = std::make_unique<wire::ReasonT>();
  out->trigger = options.trigger;
  out->sentence = options.sentence;
  for (const bool chosen : {true, false}) {
    if (!chosen && !options.decided) break;
    auto one = std::make_unique<wire::AlternativeT>();
    one->codec = chosen ? options.codec : "fp32";
    one->collective = chosen ? wire::Collective::star : wire::Collective::ring;
    one->ratio = options.ratio;
    one->encode_s = 0.01;
    one->wire_s = 0.2;
    one->decode_s = 0.02;
    one->round_s = chosen ? options.predicted_s : 4;
    one->gain = chosen ? 0.9 : 1;
    one->pareto = true;
    one->chosen = chosen;
    out->alternatives.push_back(std::move(one));
  }
  if (!options.decided) return out;
  out->inputs.assign(options.inputs.begin(), options.inputs.end());
  auto observation = std::make_unique<wire::ObservationT>();
  observation->measure = std::make_unique<wire::MeasureT>();
  observation->measure->name = "alpha";
  observation->measure->unit = wire::Unit::seconds;
  observation->measure->value = 0.005;
  observation->agent_index = 1;
  observation->age_ms = 1500;
  out->observations.push_back(std::move(observation));
  return out;
}

// The last bucket is sent without compression.
inline SharedBytes plan(std::uint64_t round, const PlanOptions& options) {
  wire::PlanT plan;
  plan.id = std::make_unique<wire::RoundId>(kJob, round, 1, 0);
  plan.plan = 1;
  plan.purpose = wire::Purpose::train;
  plan.model_version = round - 1;
  plan.agents = options.members;
  plan.weight = 1;
  plan.weight_sum = options.members;
  plan.divisor = wire::DivisorRule::contributors;
  plan.quorum = 1;
  plan.deadline_ms = 500;
  plan.preliminary_deadline_ms = 400;
  plan.local_steps = 1;
  plan.learning_rate = 1;
  plan.exchanges.push_back(
      exchange(options.codec, 1.0, options.collective));  // the ratio is in its spec
  plan.exchanges.back()->ratios = options.ratios;
  plan.exchanges.push_back(exchange("raw", 1));
  for (std::uint32_t i = 0; i < options.buckets; ++i) {
    auto bucket = std::make_unique<wire::BucketT>();
    bucket->first_value = 500 * i;
    bucket->values = 500;
    bucket->exchange = i + 1 == options.buckets && i > 0 ? 1 : 0;
    plan.buckets.push_back(std::move(bucket));
    plan.groups.emplace_back(i, 1);
  }
  plan.reason = reason(options);
  return framed(frame_with(std::move(plan)));
}

}  // namespace tributary::run_testing
