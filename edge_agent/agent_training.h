// The trainer at work, on a thread of its own: trains, evaluates the last model, and measures how
// quick this device is at codecs, one after the other, so that none slows another down.
//
// Threads: any; what is asked for is done in order, and results come by `post` from the trainer's
// thread. At most kWaitingMax pieces of work wait. At this bound a training is answered by
// UpdateFailed, and an evaluation or a measurement is left out.
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
#include "core/service/metrics/metrics.h"
#include "core/service/worker.h"
#include "core/train/trainer.h"

namespace tributary {

struct AgentTrainingParts {
  std::function<void(Event)> post;             // to the agent's machine; any thread
  std::function<TimeNs()> now;                 // the machine's time; any thread
  std::function<double()> conservation_error;  // told with updates; negative: not known
  const Clock& clock;
  Log& log;
  Metrics& metrics;
};

class AgentTraining {
 public:
  AgentTraining(std::unique_ptr<Trainer> trainer, AgentTrainingParts parts)
      : parts_(std::move(parts)), trainer_(std::move(trainer)) {}
  // Cancels what is under way.
  ~AgentTraining();
  AgentTraining(const AgentTraining&) = delete;
  AgentTraining& operator=(const AgentTraining&) = delete;

  // The definition of the job, as it was stored last: the trainer is prepared for it before it
  // trains.
  void set_definition(SharedBytes definition);
  // Is answered by UpdatePart, and then UpdateReady or UpdateFailed.
  void train(const Train& wanted);
  // Rounds evaluate the model that they begin with, and so never the last one.
  void evaluate_last(SharedFloats model, std::uint64_t version);
  bool evaluating() const { return evaluating_; }
  // Is answered by TellSpeeds, unless an earlier one still waits for its turn.
  void measure_device();

 private:
  // The machine asks for one training at a time and for one evaluation of the last model; one
  // measurement waits.
  static constexpr std::size_t kWaitingMax = 16;

  Status prepare();
  void train_now(const Train& wanted);
  void log_trained(const Train& wanted, const TrainedUpdate& trained);
  void log_evaluation(std::uint64_t version, const Evaluation& evaluation);

  const AgentTrainingParts parts_;
  const std::unique_ptr<Trainer> trainer_;
  std::mutex mutex_;
  SharedBytes definition_;
  SharedBytes prepared_;  // that the trainer knows; its thread's
  std::atomic<bool> evaluating_ = false;
  std::atomic<bool> measuring_ = false;  // a measurement waits
  std::atomic<bool> ending_ = false;
  Worker thread_{kWaitingMax};  // ends before all of these
};

}  // namespace tributary
