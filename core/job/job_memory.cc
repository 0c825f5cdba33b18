#include "core/job/job_memory.h"

#include <algorithm>
#include <memory>
#include <string>

#include "core/base/clock.h"
#include "core/base/random.h"
#include "core/codec/measure.h"
#include "core/codec/registry.h"
#include "core/round/common/plan/model_rule.h"

namespace tributary {
namespace {

// A daemon without a job: program, libraries, transport, SQLite's cache.
constexpr std::uint64_t kProcessBytes = 16u << 20;
// An agent's connection once its queues have been used: libzmq's queues of messages, its buffers
// and CURVE's state; kernel buffers are not included.
constexpr std::uint64_t kConnectionBytes = 120u << 10;
constexpr std::uint32_t kSampleValues = 1u << 16;

// The parts of a job's memory that depend on its codecs, in bytes for the whole model. With several
// codecs each part is that of the codec that needs most.
struct CodecMemory {
  std::uint64_t payload = 0;   // of one agent
  std::uint64_t result = 0;    // combined
  std::uint64_t sums = 0;      // in which a coordinator adds payloads
  bool keeps_error = false;    // at the agents
  bool encodes_again = false;  // at the coordinator, with a residual of its own
  bool whole_residual = false;
};

FloatVector sample_values() {
  const NormalStream normals({.job_seed = 1, .purpose = DrawPurpose::synthetic_data});
  FloatVector values(kSampleValues);
  for (std::uint32_t i = 0; i < kSampleValues; ++i) {
    values[i] = static_cast<float>(normals.at(i));
  }
  return values;
}

std::uint64_t share_of(std::uint64_t model, double ratio) {
  return static_cast<std::uint64_t>(static_cast<double>(model) / std::max(ratio, 1.0));
}

Result<CodecMemory> memory_of_codec(const std::string& spec, std::uint64_t model,
                                    std::uint32_t agents) {
  TRIBUTARY_ASSIGN(const std::unique_ptr<Codec> codec, make_codec(spec));
  const FloatVector one = sample_values();
  const std::vector<std::span<const float>> updates(std::clamp(agents, 1u, 4u), one);
  TRIBUTARY_ASSIGN(const MeasureReport report,
                   measure(*codec, updates, {.error_feedback = false}, SystemClock()));
  CodecMemory memory;
  memory.payload = share_of(model, report.ratio_up);
  memory.result = share_of(model, report.ratio_down);
  // Sums of integers or floats are as large as the result; other codecs add decoded values.
  const bool adds = codec->aggregation() == Aggregation::sum;
  memory.sums = adds ? memory.result : model;
  memory.keeps_error = codec->keeps_error();
  memory.encodes_again = !adds && codec->keeps_error();
  memory.whole_residual = codec->lossy();
  return memory;
}

// Number of vectors in the state of the optimizer that steps along the combined updates.
Result<unsigned> moments_of(const wire::JobT& job) {
  if (job.mode == wire::ExchangeMode::gradient) {
    flatbuffers::FlatBufferBuilder builder;
    builder.Finish(wire::Optimizer::Pack(builder, job.optimizer.get()));
    TRIBUTARY_ASSIGN(
        const OptimizerSettings optimizer,
        optimizer_settings(*flatbuffers::GetRoot<wire::Optimizer>(builder.GetBufferPointer())));
    return optimizer.moments();
  }
  if (job.strategy.empty()) return 0u;
  TRIBUTARY_ASSIGN(const Strategy strategy, parse_strategy(job.strategy));
  return strategy.server.moments();
}

Result<CodecMemory> memory_of_codecs(const RoundPolicy& policy, std::uint64_t model) {
  std::vector<std::string> specs = policy.codecs;
  if (specs.empty()) specs.push_back(policy.codec);
  CodecMemory most;
  for (const std::string& spec : specs) {
    TRIBUTARY_ASSIGN(const CodecMemory one, memory_of_codec(spec, model, policy.agents_min));
    most.payload = std::max(most.payload, one.payload);
    most.result = std::max(most.result, one.result);
    most.sums = std::max(most.sums, one.sums);
    most.keeps_error |= one.keeps_error;
    most.encodes_again |= one.encodes_again;
    most.whole_residual |= one.whole_residual;
  }
  return most;
}

}  // namespace

std::uint64_t total_bytes(const std::vector<Holding>& holdings) {
  std::uint64_t bytes = 0;
  for (const Holding& holding : holdings) bytes += holding.bytes;
  return bytes;
}

Result<JobMemory> memory_of(const SubmitJob& job, const CoordinatorLimits& limits) {
  const wire::JobT& definition = job.definition;
  if (!definition.layer_map) {
    return Status(StatusCode::invalid_argument,
                  {.what = "job", .expected = "layers", .got = "none", .remedy = {}});
  }
  std::uint64_t model = 0;
  for (const auto& layer : definition.layer_map->layers) model += layer->values * sizeof(float);
  TRIBUTARY_ASSIGN(const unsigned moments, moments_of(definition));
  const std::uint64_t state = moments * model;
  TRIBUTARY_ASSIGN(const CodecMemory codec, memory_of_codecs(job.policy, model));
  const bool star = job.policy.collective == wire::Collective::star;
  const bool in_network = job.policy.collective == wire::Collective::in_network;
  const bool by_peers = !star && !in_network;
  const bool batch = by_peers && job.policy.exchanges_per_round > 1;
  // Without a batch it is that of trainer.ahead, which an agent may have switched off.
  const bool applies_ahead = by_peers || (star && model < kLargeModelBytes);
  const std::uint64_t ahead = (applies_ahead ? model + state : 0) + (batch ? model : 0);
  // Peers send values that are final while those before them are computed.
  const bool sends_early = by_peers && codec.whole_residual && !batch &&
                           definition.mode == wire::ExchangeMode::gradient &&
                           job.policy.local_steps == 1;
  const std::uint64_t bucket = std::min(model, job.policy.bucket_values_max * sizeof(float));
  const std::uint64_t agents = std::max(job.policy.agents_min, 1u);
  const std::uint64_t incoming =
      std::min(limits.incoming_bytes_max + limits.incoming_bytes_max / 2, agents * codec.payload);
  // Encryption copies the part that each connection is sending. An agent that joins gets the model.
  const std::uint64_t part =
      std::min<std::uint64_t>(limits.payload_bytes_max, std::max(model, codec.result));
  const std::uint64_t outgoing = std::min(limits.outgoing_bytes_max, agents * part);
  const auto redo =
      std::min(static_cast<std::uint64_t>(limits.redo_models * static_cast<double>(model)),
               limits.redo_bytes_in_memory_max);
  JobMemory memory;
  memory.coordinator = {{"process", kProcessBytes},
                        {"model, before and after the round", 2 * model},
                        {"model that agents download", model},
                        {"optimizer state, before and after the round", 2 * state},
                        {"sums", star ? codec.sums : 0},
                        {"residual of the sum", star && codec.encodes_again ? model : 0},
                        {"results of this round", codec.result},
                        {"results of earlier rounds", std::max(redo, codec.result)},
                        {"payloads that arrive", incoming},
                        {"parts that are being sent", outgoing},
                        {"connections", agents * kConnectionBytes},
                        {"one decoded bucket", bucket}};
  memory.agent = {{"process", kProcessBytes},
                  {"model", model},
                  {"optimizer state", state},
                  {"update", model},
                  {"residual", codec.whole_residual ? model : 0},
                  {"residual if the round counts", codec.keeps_error ? model : 0},
                  {"own payloads", codec.payload},
                  {"results", codec.result},
                  {"partial sums of peers", star ? 0 : codec.result},
                  {"model and input ahead of the commit", ahead},
                  {"copy of values that peers get early", sends_early ? model : 0},
                  {"one decoded bucket", bucket}};
  return memory;
}

}  // namespace tributary
