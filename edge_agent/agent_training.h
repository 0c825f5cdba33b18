// Runs the trainer on a thread of its own: trains, evaluates the last model, and measures the codec
// speeds of this device. These run one after the other, so that none slows another one.
//
// Threads: all methods are thread-safe. Tasks run in order, and their results are posted from the
// trainer's thread. At most kWaitingMax tasks wait. At this bound, train() posts UpdateFailed, and
// an evaluation or measurement is dropped.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>

#include "core/base/clock.h"
#include "core/base/log/log.h"
#include "core/round/common/machine/actions.h"
#include "core/round/common/machine/events.h"
#include "core/service/loop/worker.h"
#include "core/service/metrics/metrics.h"
#include "core/train/trainer.h"

namespace tributary {

// The functions and objects that the training works with. `clock`, `log` and `metrics` must outlive
// it.
struct AgentTrainingParts {
  std::function<void(Event)> post;  // delivers an event to the state machine; called on any thread
  std::function<TimeNs()> now;      // time of the state machine; called on any thread
  std::function<double()> conservation_error;  // reported with updates; negative: unknown
  const Clock& clock;
  Log& log;
  Metrics& metrics;
};

class AgentTraining {
 public:
  AgentTraining(std::unique_ptr<Trainer> trainer, AgentTrainingParts parts)
      : parts_(std::move(parts)), trainer_(std::move(trainer)) {}
  // Cancels the task in progress and drops the others.
  ~AgentTraining();
  AgentTraining(const AgentTraining&) = delete;
  AgentTraining& operator=(const AgentTraining&) = delete;

  // Sets the stored definition of the job. Before the next training, the trainer is prepared for
  // it.
  void set_definition(SharedBytes definition);
  // Posts UpdatePart for parts that are ready early, and then UpdateReady or UpdateFailed.
  void train(const Train& order);
  // Evaluates the last model of a job. Rounds evaluate the model that they start from, so no round
  // evaluates the last one.
  void evaluate_last(SharedFloats model, std::uint64_t version);
  bool evaluating() const { return evaluating_; }
  // Posts ReportSpeeds. Does nothing if an earlier measurement still waits.
  void measure_device();

 private:
  // The state machine requests one training and one evaluation at a time, and one measurement
  // waits, so this bound is not reached in practice.
  static constexpr std::size_t kWaitingMax = 16;

  Status prepare();
  void train_now(const Train& order);
  void log_trained(const Train& order, const TrainedUpdate& trained);
  void log_evaluation(std::uint64_t version, const Evaluation& evaluation);

  const AgentTrainingParts parts_;
  const std::unique_ptr<Trainer> trainer_;
  std::mutex mutex_;
  SharedBytes definition_;
  SharedBytes prepared_;  // definition that the trainer is prepared for; belongs to its thread
  std::atomic<bool> evaluating_ = false;
  std::atomic<bool> measuring_ = false;  // whether a measurement waits
  std::atomic<bool> ending_ = false;
  Worker thread_{"trainer", kWaitingMax};  // destroyed first
};

}  // namespace tributary
