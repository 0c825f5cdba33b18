#include "coordinator/evaluation/evaluations.h"

#include <string_view>
#include <utility>

#include "core/train/trainer_metrics.h"
#include "schemas/frame.h"

namespace tributary {
namespace {

constexpr std::string_view kEvaluationsComponent = "coordinator";

}  // namespace

// Null without a test set, which is no error.
Result<std::unique_ptr<Evaluations>> Evaluations::open(const EvaluatorSettings& settings,
                                                       const Audience& audience) {
  if (settings.training.data.path.empty()) return std::unique_ptr<Evaluations>();
  EvaluatorSettings own = settings;
  own.training.agent_id = kEvaluationsComponent;
  std::unique_ptr<Evaluations> evaluations(new Evaluations(audience));
  TRIBUTARY_ASSIGN(evaluations->evaluator_, Evaluator::make(own, evaluations->keep()));
  return evaluations;
}

Evaluations::Evaluations(std::unique_ptr<Trainer> trainer, const Audience& audience)
    : audience_(audience), evaluator_(std::make_unique<Evaluator>(std::move(trainer), keep())) {}

// Called by the evaluator's thread; report() takes the results on the daemon's thread.
std::function<void(ModelEvaluation)> Evaluations::keep() {
  return [this](ModelEvaluation evaluation) {
    const std::lock_guard lock(mutex_);
    done_.push_back(std::move(evaluation));
  };
}

// The model of the last round is always evaluated.
void Evaluations::committed(ModelToEvaluate model) {
  if (!model.definition) return;
  const Result<const wire::Frame*> frame = open_frame(*model.definition);
  const wire::Job* job = frame.ok() ? (*frame)->message_as_Job() : nullptr;
  if (!job) return;
  const std::uint32_t every = job->evaluate_every_rounds();
  if (model.version != job->rounds() && (every == 0 || model.version % every != 0)) return;
  evaluator_->evaluate(std::move(model));
}

// The lock is held only for the exchange of the lists, because reporting may take long.
void Evaluations::report() {
  std::vector<ModelEvaluation> evaluations;
  {
    const std::lock_guard lock(mutex_);
    evaluations.swap(done_);
  }
  for (const ModelEvaluation& done : evaluations) report(done);
}

void Evaluations::report(const ModelEvaluation& done) {
  if (!done.outcome.ok() || !*done.outcome) {
    audience_.log.error(kEvaluationsComponent, "evaluation failed",
                        {{"error", done.outcome.ok() ? "evaluation.path has no part for testing"
                                                     : done.outcome.status().text()}});
    return;
  }
  const Evaluation& evaluation = **done.outcome;
  audience_.log.info(kEvaluationsComponent, "evaluated",
                     {{"model_version", done.version},
                      {"loss", evaluation.loss},
                      {"accuracy", evaluation.accuracy},
                      {"examples", evaluation.examples}});
  for (const AgentMetric& metric : metrics_of(evaluation)) {
    audience_.take(
        {.kind = metric.kind, .value = metric.value, .job = done.job, .round = done.version});
  }
}

}  // namespace tributary
