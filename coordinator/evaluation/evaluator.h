// Evaluates committed models on the coordinator's own test set, beside the rounds and never in
// their way: while it is at one model the newest that comes waits, and those between are passed
// over.
//
// Threads: one owns it; the trainer works on a thread of its own.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "core/base/status.h"
#include "core/round/common/machine/records.h"
#include "core/service/worker.h"
#include "core/train/trainer.h"

namespace tributary {

struct EvaluatorSettings {
  std::string trainer = "torch";
  TrainerOptions training;  // its data is the test set; without a path nothing is evaluated
};

struct ModelToEvaluate {
  std::uint64_t job = 0;
  std::uint64_t version = 0;
  SharedBytes definition;  // of the job, as JobRecord has it
  SharedFloats model;
};

struct ModelEvaluation {
  std::uint64_t job = 0;
  std::uint64_t version = 0;
  Result<std::optional<Evaluation>> outcome;
};

class Evaluator {
 public:
  // `done` is called on the evaluator's thread.
  static Result<std::unique_ptr<Evaluator>> make(const EvaluatorSettings& settings,
                                                 std::function<void(ModelEvaluation)> done);
  Evaluator(std::unique_ptr<Trainer> trainer, std::function<void(ModelEvaluation)> done);
  ~Evaluator();
  Evaluator(const Evaluator&) = delete;
  Evaluator& operator=(const Evaluator&) = delete;

  void evaluate(ModelToEvaluate model);
  bool idle() const;

 private:
  void work();
  Result<std::optional<Evaluation>> evaluate_now(const ModelToEvaluate& model);

  std::unique_ptr<Trainer> trainer_;
  std::function<void(ModelEvaluation)> done_;
  SharedBytes prepared_;  // the definition that the trainer knows; its thread's

  mutable std::mutex mutex_;
  std::optional<ModelToEvaluate> next_;
  bool working_ = false;
  std::unique_ptr<Worker> thread_;  // ends first
};

}  // namespace tributary
