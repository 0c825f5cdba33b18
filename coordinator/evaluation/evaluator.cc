#include "coordinator/evaluation/evaluator.h"

#include <utility>

#include "core/train/training_job.h"
#include "schemas/frame.h"

namespace tributary {

Evaluator::Evaluator(std::unique_ptr<Trainer> trainer, std::function<void(ModelEvaluation)> done)
    : trainer_(std::move(trainer)),
      done_(std::move(done)),
      thread_(std::make_unique<Worker>("evaluation")) {}

Evaluator::~Evaluator() { trainer_->cancel(); }

Result<std::unique_ptr<Evaluator>> Evaluator::make(const EvaluatorSettings& settings,
                                                   std::function<void(ModelEvaluation)> done) {
  TRIBUTARY_ASSIGN(std::unique_ptr<Trainer> trainer,
                   make_trainer(settings.trainer, settings.training));
  return std::make_unique<Evaluator>(std::move(trainer), std::move(done));
}

void Evaluator::evaluate(ModelToEvaluate model) {
  const std::lock_guard lock(mutex_);
  next_ = std::move(model);
  if (std::exchange(working_, true)) return;
  thread_->post([this] { work(); });
}

bool Evaluator::idle() const {
  const std::lock_guard lock(mutex_);
  return !working_;
}

void Evaluator::work() {
  while (true) {
    ModelToEvaluate model;
    {
      const std::lock_guard lock(mutex_);
      if (!next_) {
        working_ = false;
        return;
      }
      model = *std::exchange(next_, std::nullopt);
    }
    done_({.job = model.job, .version = model.version, .outcome = evaluate_now(model)});
  }
}

Result<std::optional<Evaluation>> Evaluator::evaluate_now(const ModelToEvaluate& model) {
  if (model.definition != prepared_) {
    prepared_.reset();
    TRIBUTARY_ASSIGN(const wire::Frame* frame, open_frame(*model.definition));
    const wire::Job* job = frame->message_as_Job();
    if (!job) return Status(StatusCode::corrupt_data, {.what = "definition of the job"});
    TRIBUTARY_ASSIGN(const TrainingJob training, training_job(*job));
    TRIBUTARY_TRY(trainer_->prepare(training));
    prepared_ = model.definition;
  }
  return trainer_->evaluate(*model.model);
}

}  // namespace tributary
