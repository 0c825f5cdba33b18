// Evaluates committed models on the coordinator's own test set, without delaying rounds.
//
// During an evaluation at most one model waits: a newer model replaces it, and the replaced one is
// not evaluated.
//
// Threads: one thread owns it; the trainer runs on a thread of its own.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "core/base/status.h"
#include "core/round/common/machine/records.h"
#include "core/service/loop/worker.h"
#include "core/train/trainer.h"

namespace tributary {

// The trainer and the test set.
struct EvaluatorSettings {
  std::string trainer = "torch";
  TrainerOptions training;  // its data is the test set; without a path nothing is evaluated
};

// A committed model.
struct ModelToEvaluate {
  std::uint64_t job = 0;
  std::uint64_t version = 0;
  SharedBytes definition;  // job definition, a wire message as JobRecord stores it
  SharedFloats model;
};

// The result of one evaluation.
struct ModelEvaluation {
  std::uint64_t job = 0;
  std::uint64_t version = 0;
  // Empty if the data has no test part.
  Result<std::optional<Evaluation>> outcome;
};

class Evaluator {
 public:
  // `done` is called on the evaluator's thread. Returns the error of make_trainer().
  static Result<std::unique_ptr<Evaluator>> make(const EvaluatorSettings& settings,
                                                 std::function<void(ModelEvaluation)> done);
  Evaluator(std::unique_ptr<Trainer> trainer, std::function<void(ModelEvaluation)> done);
  // Cancels the trainer and waits for its thread.
  ~Evaluator();
  Evaluator(const Evaluator&) = delete;
  Evaluator& operator=(const Evaluator&) = delete;

  // Queues the model and returns at once.
  void evaluate(ModelToEvaluate model);
  bool idle() const;

 private:
  void work();
  Result<std::optional<Evaluation>> evaluate_now(const ModelToEvaluate& model);

  std::unique_ptr<Trainer> trainer_;
  std::function<void(ModelEvaluation)> done_;
  SharedBytes prepared_;  // definition that the trainer is prepared for; belongs to its thread

  mutable std::mutex mutex_;
  std::optional<ModelToEvaluate> next_;
  bool working_ = false;
  std::unique_ptr<Worker> thread_;  // destroyed first
};

}  // namespace tributary
