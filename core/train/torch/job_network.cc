#include "core/train/torch/job_network.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "core/base/bytes/checksum.h"
#include "core/base/files/file.h"
#include "core/train/model/network_plan.h"
#include "core/train/shape_text.h"

namespace tributary {
namespace {

// Examples per forward pass: enough for the engine's kernels, and little memory.
constexpr std::uint32_t kEvaluationBatch = 256;
constexpr std::uint64_t kScriptBytesMax = std::uint64_t{8} << 30;

// A setting on the device has precedence over the file in the job. The hash of the job decides in
// both cases, so agents cannot train different models.
Result<std::unique_ptr<TorchModel>> open_network(const TrainingJob& job,
                                                 const std::string& model_file,
                                                 TrainerDevice device) {
  if (!job.script) {
    TRIBUTARY_ASSIGN(NetworkPlan plan, plan_network(job.model, job.input));
    return TorchModel::make(std::move(plan), device);
  }
  if (model_file.empty() && job.model_file.empty()) {
    return Status(
        StatusCode::not_found,
        {.what = fmt::format("TorchScript '{}' of the job", job.model),
         .expected = "its file on this device, because it is too large to be sent with the job",
         .got = "no setting trainer.model_file",
         .remedy = "copy the file here and name it in trainer.model_file"});
  }
  const std::string& name = model_file.empty() ? job.model : model_file;
  Bytes file = job.model_file;
  if (!model_file.empty()) {
    TRIBUTARY_ASSIGN(file, read_file(model_file, kScriptBytesMax));
  }
  if (hash64(file) != job.model_file_hash) {
    return Status(
        StatusCode::mismatch,
        {.what = fmt::format("file '{}'", name),
         .expected = fmt::format("the job's TorchScript, hash {:016x}", job.model_file_hash),
         .got = fmt::format("{:016x}", hash64(file)),
         .remedy = "copy the job's file here"});
  }
  return TorchModel::load_script(file, name, job.input, device);
}

}  // namespace

Result<std::unique_ptr<TorchModel>> open_job_model(const TrainingJob& job,
                                                   const std::string& model_file,
                                                   TrainerDevice device) {
  TRIBUTARY_ASSIGN(std::unique_ptr<TorchModel> model, open_network(job, model_file, device));
  if (model->layers().hash() != job.layer_map_hash) {
    return Status(
        StatusCode::mismatch,
        {.what = fmt::format("layers of the model {}", job.model),
         .expected = fmt::format("the job's, hash {:016x}", job.layer_map_hash),
         .got = fmt::format("{:016x}, {} values", model->layers().hash(), model->layers().values()),
         .remedy = "run the same version on coordinator and agents"});
  }
  return model;
}

Status check_shape(const TrainingJob& job, const DataSet& data, std::string_view part) {
  if (data.count() == 0) {
    return Status(StatusCode::invalid_argument, {.what = fmt::format("{} data", part),
                                                 .expected = "examples",
                                                 .got = "none",
                                                 .remedy = "check data.path and data.shard"});
  }
  if (data.shape() == job.input) return {};
  return Status(StatusCode::mismatch,
                {.what = fmt::format("{} data of this agent", part),
                 .expected = fmt::format("data of the job's shape: {}", describe(job.input)),
                 .got = describe(data.shape()),
                 .remedy = "give this agent the job's data, or correct the job's input"});
}

void bind_to_evaluate(TorchModel& model, std::span<const float> values, FloatVector& buffers) {
  const std::uint64_t parameters = model.parameter_values();
  const std::span<const float> rest = values.subspan(parameters);
  buffers.assign(rest.begin(), rest.end());
  model.bind({.parameters = values.first(parameters), .buffers = buffers, .gradients = {}});
}

Result<Evaluation> evaluate_on(TorchModel& model, const DataSet& data, Loss loss,
                               const std::function<bool()>& stop) {
  Evaluation all;
  double right = 0;
  double losses = 0;
  std::vector<std::uint32_t> indices;
  Batch batch;
  for (std::uint32_t first = 0; first < data.count(); first += kEvaluationBatch) {
    if (stop()) return Status(StatusCode::cancelled, {.what = "evaluation"});
    indices.resize(std::min(kEvaluationBatch, data.count() - first));
    std::iota(indices.begin(), indices.end(), first);
    TRIBUTARY_TRY(data.gather(indices, batch));
    TRIBUTARY_ASSIGN(const Evaluation part, model.evaluate(batch, loss));
    // Batches may differ in size, so means are weighted by examples.
    const auto weight = static_cast<double>(part.examples);
    all.examples += part.examples;
    losses += part.loss * weight;
    right += part.accuracy * weight;
  }
  all.loss = losses / static_cast<double>(all.examples);
  all.accuracy = right / static_cast<double>(all.examples);
  return all;
}

}  // namespace tributary
