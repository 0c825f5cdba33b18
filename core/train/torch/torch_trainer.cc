#include "core/train/torch/torch_trainer.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "core/codec/device/codec_device.h"
#include "core/optimizer/clip.h"
#include "core/optimizer/optimizer.h"
#include "core/train/batch_order.h"
#include "core/train/ready_tail.h"
#include "core/train/torch/job_network.h"
#include "core/train/torch/torch_model.h"

namespace tributary {
namespace {

// Position and number of the steps of one round.
struct RoundSteps {
  std::uint64_t first_example = 0;
  std::uint32_t steps = 1;
};

// Trains one job at a time. All members but cancelled_ belong to the training thread.
class TorchTrainer final : public Trainer {
 public:
  TorchTrainer(TrainerOptions options, OpenTrainingData open_data)
      : options_(std::move(options)), open_data_(std::move(open_data)) {}

  Status prepare(const TrainingJob& job) override;
  Result<TrainedUpdate> train(const TrainOrder& order) override;
  Result<std::optional<Evaluation>> evaluate(std::span<const float> model) override;
  void cancel() override { cancelled_ = true; }

 private:
  RoundSteps steps_of(const TrainOrder& order) const;
  Result<double> add_gradient(std::uint64_t first_example, double scale,
                              const TorchModel::GradientReady* ready = nullptr);
  Status train_gradient(const TrainOrder& order, TrainedUpdate& trained);
  Status train_delta(const TrainOrder& order, TrainedUpdate& trained);
  void clip(std::span<float> gradient) const;
  bool hands_over_on_device() const;
  void hand_over(std::span<const float> on_device, TrainedUpdate& trained) const;
  Result<Evaluation> evaluate_all(std::span<const float> model);
  Status check_model(std::span<const float> model) const;

  const TrainerOptions options_;
  const OpenTrainingData open_data_;
  std::atomic<bool> cancelled_ = false;

  std::optional<TrainingJob> job_;
  Loss loss_ = Loss::cross_entropy;
  TrainingData data_;
  std::unique_ptr<TorchModel> model_;
  std::unique_ptr<BatchOrder> order_;
  FloatVector buffers_;  // buffers during training, because the job's model must not change
  std::vector<std::uint32_t> indices_;
  Batch batch_;
};

Status TorchTrainer::prepare(const TrainingJob& job) {
  // A failed prepare() leaves no job, so that train() cannot use a mixture of old and new settings.
  job_.reset();
  set_engine_threads(options_.threads);
  TRIBUTARY_ASSIGN(loss_, parse_loss(job.loss));
  TRIBUTARY_ASSIGN(data_, open_data_(job));
  TRIBUTARY_TRY(check_shape(job, *data_.train, "training"));
  if (data_.hold_out) TRIBUTARY_TRY(check_shape(job, *data_.hold_out, "hold-out"));
  TRIBUTARY_TRY(check_engine_has(options_.trains_on));
  TRIBUTARY_ASSIGN(model_, open_job_model(job, options_.model_file, options_.trains_on));
  order_ = std::make_unique<BatchOrder>(job.seed, options_.agent_id, data_.train->count());
  buffers_.resize(model_->buffer_values());
  job_ = job;
  return {};
}

RoundSteps TorchTrainer::steps_of(const TrainOrder& order) const {
  RoundSteps steps = {.steps = std::max(order.local_steps, 1u)};
  if (!job_->gradient && job_->epochs > 0) {
    const std::uint64_t examples = std::uint64_t{data_.train->count()} * job_->epochs;
    steps.steps = static_cast<std::uint32_t>((examples + job_->batch_size - 1) / job_->batch_size);
  }
  // Rounds begin at 1. The position depends only on the round, so a repeated or resumed round sees
  // the same examples.
  steps.first_example = (order.round - 1) * steps.steps * job_->batch_size;
  return steps;
}

// One step's gradient; the check for cancellation is here, once per batch.
Result<double> TorchTrainer::add_gradient(std::uint64_t first_example, double scale,
                                          const TorchModel::GradientReady* ready) {
  if (cancelled_) return Status(StatusCode::cancelled, {.what = "training"});
  order_->indices(first_example, job_->batch_size, indices_);
  TRIBUTARY_TRY(data_.train->gather(indices_, batch_));
  return model_->add_gradient(batch_, loss_, scale, ready);
}

// Clips by value first, then by norm.
void TorchTrainer::clip(std::span<float> gradient) const {
  if (job_->clip_value > 0) clip_by_value(gradient, static_cast<float>(job_->clip_value));
  if (job_->clip_norm > 0) clip_by_norm(gradient, job_->clip_norm);
}

bool TorchTrainer::hands_over_on_device() const {
  return options_.trains_on != TrainerDevice::host && options_.device != nullptr &&
         options_.device->name() == name(options_.trains_on) && !options_.device->lost();
}

// The engine uses its memory again in the next step, so the update is copied within the device. If
// that fails, the caller copies it to the host.
void TorchTrainer::hand_over(std::span<const float> on_device, TrainedUpdate& trained) const {
  Result<std::shared_ptr<DeviceVector>> copy = options_.device->vectors()->copy_of(on_device);
  if (!copy.ok()) return options_.device->report(copy.status());
  trained.on_device = std::move(*copy);
  trained.update.reset();
}

// Computes the mean gradient over all steps at the given model. A buffer has no gradient: its entry
// is chosen so that the server's step changes the buffer as training did
// (core/round/common/plan/model_rule.h).
Status TorchTrainer::train_gradient(const TrainOrder& order, TrainedUpdate& trained) {
  const std::uint64_t parameters = model_->parameter_values();
  const std::span<float> update(*trained.update);
  std::ranges::copy(order.model.subspan(parameters), buffers_.begin());
  model_->bind({.parameters = order.model.first(parameters),
                .buffers = buffers_,
                .gradients = update.first(parameters)});
  const RoundSteps steps = steps_of(order);
  const auto rate = static_cast<float>(order.learning_rate);
  const auto update_buffers = [&] {
    for (std::size_t i = 0; i < buffers_.size(); ++i) {
      update[parameters + i] = rate == 0 ? 0 : (order.model[parameters + i] - buffers_[i]) / rate;
    }
  };
  // The forward pass has already changed the buffers when the first gradient is final, so the
  // buffers become ready first.
  ReadyTail tail(update.size());
  const auto ready = [&](std::uint64_t first, std::uint64_t count) {
    if (tail.first_value() > parameters) {
      update_buffers();
      tail.add(parameters, buffers_.size());
    }
    const std::uint64_t before = tail.first_value();
    tail.add(first, count);
    if (tail.first_value() < before) order.part_ready(tail.first_value(), trained.update);
  };
  const TorchModel::GradientReady hook(ready);
  // Parts are announced only for a single step without clipping: clipping needs the whole gradient,
  // and a mean over several steps is final only with the last one.
  const bool clips = job_->clip_value > 0 || job_->clip_norm > 0;
  const bool in_parts =
      order.part_ready && steps.steps == 1 && !clips && options_.trains_on == TrainerDevice::host;
  for (std::uint32_t step = 0; step < steps.steps; ++step) {
    const std::uint64_t first = steps.first_example + std::uint64_t{step} * job_->batch_size;
    TRIBUTARY_ASSIGN(const double loss,
                     add_gradient(first, 1.0 / steps.steps, in_parts ? &hook : nullptr));
    trained.loss += loss / steps.steps;
  }
  model_->read_buffers();
  update_buffers();
  if (!clips && hands_over_on_device()) {
    hand_over(model_->on_device(update.subspan(parameters)), trained);
  }
  if (!trained.on_device) {
    model_->read_gradients();
    clip(update.first(parameters));
  }
  trained.local_steps = steps.steps;
  trained.examples = std::uint64_t{steps.steps} * job_->batch_size;
  return {};
}

// Trains with the local optimizer and returns the change of the model. The optimizer's state starts
// anew in every round.
Status TorchTrainer::train_delta(const TrainOrder& order, TrainedUpdate& trained) {
  const std::uint64_t parameters = model_->parameter_values();
  // The local steps change a copy; the job's model belongs to the caller.
  FloatVector working(order.model.begin(), order.model.end());
  const std::span<float> weights = std::span(working).first(parameters);
  const std::span<float> gradient = std::span(*trained.update).first(parameters);
  model_->bind({.parameters = weights,
                .buffers = std::span(working).subspan(parameters),
                .gradients = gradient});
  Optimizer optimizer(job_->optimizer, parameters);
  const RoundSteps steps = steps_of(order);
  const auto pull = static_cast<float>(job_->proximal);
  for (std::uint32_t step = 0; step < steps.steps; ++step) {
    std::ranges::fill(gradient, 0.0f);
    const std::uint64_t first = steps.first_example + std::uint64_t{step} * job_->batch_size;
    TRIBUTARY_ASSIGN(const double loss, add_gradient(first, 1));
    trained.loss += loss / steps.steps;
    model_->read_gradients();
    clip(gradient);
    for (std::size_t i = 0; pull > 0 && i < parameters; ++i) {
      gradient[i] += pull * (weights[i] - order.model[i]);
    }
    optimizer.begin();
    optimizer.apply(0, gradient, 1, order.learning_rate, weights);
    model_->refresh();
  }
  model_->read_buffers();
  for (std::size_t i = 0; i < working.size(); ++i) {
    (*trained.update)[i] = working[i] - order.model[i];
  }
  trained.local_steps = steps.steps;
  trained.examples = data_.train->count();
  return {};
}

Result<Evaluation> TorchTrainer::evaluate_all(std::span<const float> model) {
  bind_to_evaluate(*model_, model, buffers_);
  return evaluate_on(*model_, *data_.hold_out, loss_, [this] { return cancelled_.load(); });
}

Status TorchTrainer::check_model(std::span<const float> model) const {
  if (job_ && model.size() == model_->layers().values()) return {};
  return Status(
      StatusCode::mismatch,
      {.what = "model to train",
       .expected = job_ ? fmt::format("{} values", model_->layers().values()) : "a prepared job",
       .got = fmt::format("{} values", model.size()),
       .remedy = "see the earlier errors of the job in the log"});
}

Result<std::optional<Evaluation>> TorchTrainer::evaluate(std::span<const float> model) {
  TRIBUTARY_TRY(check_model(model));
  if (!data_.hold_out) return std::optional<Evaluation>();
  TRIBUTARY_ASSIGN(const Evaluation evaluation, evaluate_all(model));
  return std::optional<Evaluation>(evaluation);
}

Result<TrainedUpdate> TorchTrainer::train(const TrainOrder& order) {
  TRIBUTARY_TRY(check_model(order.model));
  // Random operations of a script, such as dropout, differ between rounds and are reproducible.
  seed_engine(order.seed ^ order.round);
  TrainedUpdate trained;
  if (order.evaluate && data_.hold_out) {
    TRIBUTARY_ASSIGN(trained.evaluation, evaluate_all(order.model));
  }
  trained.update = std::make_shared<FloatVector>(order.model.size(), 0.0f);
  Status status = job_->gradient ? train_gradient(order, trained) : train_delta(order, trained);
  if (!status.ok()) return std::move(status).at(fmt::format("round {}", order.round));
  return trained;
}

}  // namespace

std::unique_ptr<Trainer> make_torch_trainer(TrainerOptions options, OpenTrainingData open_data) {
  return std::make_unique<TorchTrainer>(std::move(options), std::move(open_data));
}

}  // namespace tributary
