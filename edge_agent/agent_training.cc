#include "edge_agent/agent_training.h"

#include <utility>
#include <vector>

#include "core/cost/device_speed.h"
#include "core/service/metrics/reading_metrics.h"
#include "core/train/trainer_metrics.h"
#include "core/train/training_job.h"
#include "schemas/frame.h"

namespace tributary {
namespace {

constexpr std::string_view kTrainingComponent = "agent";

}  // namespace

AgentTraining::~AgentTraining() {
  ending_ = true;
  trainer_->cancel();
}

void AgentTraining::set_definition(SharedBytes definition) {
  const std::lock_guard lock(mutex_);
  definition_ = std::move(definition);
}

// Runs on the trainer's thread. A job that the trainer cannot run is reported again in every round,
// until the operator fixes it.
Status AgentTraining::prepare() {
  SharedBytes definition;
  {
    const std::lock_guard lock(mutex_);
    definition = definition_;
  }
  if (!definition || definition == prepared_) return {};
  TRIBUTARY_ASSIGN(const wire::Frame* frame, open_frame(*definition));
  const wire::Job* job = frame->message_as_Job();
  if (!job) return Status(StatusCode::corrupt_data, {.what = "definition of the job"});
  TRIBUTARY_ASSIGN(const TrainingJob training, training_job(*job));
  TRIBUTARY_TRY(trainer_->prepare(training));
  prepared_ = std::move(definition);
  return {};
}

void AgentTraining::train(const Train& order) {
  parts_.log.debug(kTrainingComponent, "training", {{"round", order.id.round}});
  Status posted = thread_.try_post([this, order] { train_now(order); });
  if (!posted.ok()) {
    parts_.post(UpdateFailed{.token = order.token, .status = std::move(posted)});
  }
}

void AgentTraining::train_now(const Train& order) {
  // The time includes prepare(), which is long only in the first round of a job.
  const TimeNs began_at = parts_.now();
  if (Status status = prepare(); !status.ok()) {
    parts_.log.error(kTrainingComponent, "cannot train", {{"error", status.text()}});
    return parts_.post(UpdateFailed{.token = order.token, .status = std::move(status)});
  }
  std::vector<UpdateReady::Part> parts;
  const auto part_ready = [&, token = order.token](std::uint64_t first,
                                                   const std::shared_ptr<FloatVector>& update) {
    parts.push_back(
        {.first_value = first, .after_s = static_cast<double>(parts_.now() - began_at) / 1e9});
    parts_.post(UpdatePart{.token = token, .first_value = first, .update = update});
  };
  Result<TrainedUpdate> trained = trainer_->train({.round = order.training,
                                                   .model = *order.model,
                                                   .local_steps = order.local_steps,
                                                   .learning_rate = order.learning_rate,
                                                   .seed = order.seed,
                                                   .evaluate = order.evaluate,
                                                   .part_ready = part_ready});
  if (!trained.ok()) {
    parts_.log.error(kTrainingComponent, "training failed", {{"error", trained.status().text()}});
    return parts_.post(UpdateFailed{.token = order.token, .status = trained.status()});
  }
  log_trained(order, *trained);
  std::vector<AgentMetric> metrics;
  if (trained->evaluation) metrics = metrics_of(*trained->evaluation);
  if (const double error = parts_.conservation_error(); error >= 0) {
    metrics.push_back({.kind = ReadingKind::conservation_error, .value = error});
  }
  parts_.post(UpdateReady{.token = order.token,
                          .update = std::move(trained->update),
                          .loss = trained->loss,
                          .examples = trained->examples,
                          .compute_s = static_cast<double>(parts_.now() - began_at) / 1e9,
                          .metrics = std::move(metrics),
                          .parts = std::move(parts),
                          .on_device = std::move(trained->on_device)});
}

void AgentTraining::log_trained(const Train& order, const TrainedUpdate& trained) {
  parts_.log.debug(kTrainingComponent, "trained",
                   {{"round", order.id.round},
                    {"loss", trained.loss},
                    {"examples", trained.examples},
                    {"local_steps", trained.local_steps}});
  if (trained.evaluation) log_evaluation(order.model_version, *trained.evaluation);
}

void AgentTraining::log_evaluation(std::uint64_t version, const Evaluation& evaluation) {
  parts_.log.info(kTrainingComponent, "evaluated",
                  {{"model_version", version},
                   {"loss", evaluation.loss},
                   {"accuracy", evaluation.accuracy},
                   {"examples", evaluation.examples}});
  publish({.kind = ReadingKind::evaluation_loss, .value = evaluation.loss}, parts_.metrics);
  publish({.kind = ReadingKind::evaluation_accuracy, .value = evaluation.accuracy}, parts_.metrics);
}

// The flag is set before the task is posted, so that a daemon that waits for evaluating() cannot
// miss it. Without a prepared trainer there is no data to evaluate with.
void AgentTraining::evaluate_last(SharedFloats model, std::uint64_t version) {
  evaluating_ = true;
  const Status posted = thread_.try_post([this, model = std::move(model), version] {
    if (prepared_ && model) {
      const Result<std::optional<Evaluation>> evaluation = trainer_->evaluate(*model);
      if (!evaluation.ok()) {
        parts_.log.error(kTrainingComponent, "evaluation failed",
                         {{"error", evaluation.status().text()}});
      } else if (*evaluation) {
        log_evaluation(version, **evaluation);
      }
    }
    evaluating_ = false;
  });
  if (posted.ok()) return;
  evaluating_ = false;
  parts_.log.error(kTrainingComponent, "evaluation failed", {{"error", posted.text()}});
}

void AgentTraining::measure_device() {
  if (measuring_.exchange(true)) return;
  const Status posted = thread_.try_post([this] {
    // The flag means that a measurement waits, not that one runs: from here on a request queues
    // another.
    measuring_ = false;
    ReportSpeeds report;
    for (DeviceSpeed& speed :
         tributary::measure_device(parts_.clock, [this] { return !ending_; })) {
      wire::CodecOfferT& offer = report.codecs.emplace_back();
      offer.spec = std::move(speed.family);
      offer.encode_bytes_per_s = speed.encode_bytes_per_s;
      offer.aggregate_bytes_per_s = speed.aggregate_bytes_per_s;
      offer.decode_bytes_per_s = speed.decode_bytes_per_s;
    }
    parts_.log.debug(kTrainingComponent, "device measured", {{"codecs", report.codecs.size()}});
    parts_.post(std::move(report));
  });
  if (!posted.ok()) measuring_ = false;
}

}  // namespace tributary
