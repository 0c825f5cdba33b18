#include "core/train/torch/torch_tools.h"

#include <fmt/format.h>

#include <utility>

#include "core/train/torch/job_network.h"
#include "core/train/torch/torch_model.h"

namespace tributary {
namespace {

// One job at a time. prepare() builds its model; the other calls bind values to it.
class TorchTools final : public ModelTools {
 public:
  explicit TorchTools(ModelToolsOptions options) : options_(std::move(options)) {}

  Status prepare(const TrainingJob& job, std::shared_ptr<const DataSet> data) override {
    model_.reset();
    data_.reset();
    set_engine_threads(options_.threads);
    TRIBUTARY_ASSIGN(loss_, parse_loss(job.loss));
    if (data) TRIBUTARY_TRY(check_shape(job, *data, "test"));
    TRIBUTARY_ASSIGN(model_, open_job_model(job, options_.model_file));
    data_ = std::move(data);
    return {};
  }

  Result<Evaluation> evaluate(std::span<const float> model) override {
    TRIBUTARY_TRY(bind(model));
    if (data_) return evaluate_on(*model_, *data_, loss_, [] { return false; });
    return Status(StatusCode::invalid_argument, {.what = "evaluation of a model",
                                                 .expected = "data to evaluate it on",
                                                 .got = "none",
                                                 .remedy = "pass it to prepare()"});
  }

  Result<ScriptModel> read_script(ByteSpan file, const std::string& name,
                                  const ExampleShape& input) override {
    TRIBUTARY_ASSIGN(const auto model, TorchModel::load_script(file, name, input));
    // Parameters stand before buffers, so counting their values gives the number of their layers.
    std::size_t parameters = 0;
    for (std::uint64_t values = 0; values < model->parameter_values(); ++parameters) {
      values += model->layers().layers()[parameters].count;
    }
    return ScriptModel{
        .layers = model->layers(), .parameters = parameters, .values = model->values()};
  }

  Result<Bytes> export_script(std::span<const float> model) override {
    TRIBUTARY_TRY(bind(model));
    return model_->export_script();
  }

 private:
  // The model refers to the values, which must stay alive while it is used.
  Status bind(std::span<const float> model) {
    if (model_ && model.size() == model_->layers().values()) {
      bind_to_evaluate(*model_, model, buffers_);
      return {};
    }
    return Status(
        StatusCode::mismatch,
        {.what = "values of a model",
         .expected = model_ ? fmt::format("{}", model_->layers().values()) : "a prepared job",
         .got = fmt::format("{}", model.size()),
         .remedy = "take job and model from the same journal"});
  }

  const ModelToolsOptions options_;
  std::shared_ptr<const DataSet> data_;
  Loss loss_ = Loss::cross_entropy;
  std::unique_ptr<TorchModel> model_;
  FloatVector buffers_;
};

}  // namespace

std::unique_ptr<ModelTools> make_torch_tools(const ModelToolsOptions& options) {
  return std::make_unique<TorchTools>(options);
}

}  // namespace tributary
