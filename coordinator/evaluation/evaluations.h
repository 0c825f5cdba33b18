// Selects the committed models to evaluate, and passes the results on as readings.
//
// Threads: all methods belong to one thread at a time. Models are evaluated on a thread of the
// Evaluator.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "coordinator/evaluation/evaluator.h"
#include "core/base/log/log.h"
#include "core/round/common/machine/actions.h"

namespace tributary {

// The receivers of the results. The log must outlive the Evaluations.
struct Audience {
  Log& log;
  std::function<void(const Reading&)> take;  // called by report()
};

class Evaluations {
 public:
  // Returns null if the settings name no test set. Returns the trainer's error if it cannot be
  // made.
  static Result<std::unique_ptr<Evaluations>> open(const EvaluatorSettings& settings,
                                                   const Audience& audience);
  Evaluations(std::unique_ptr<Trainer> trainer, const Audience& audience);

  // Starts an evaluation if the job's evaluate_every_rounds divides the version, or if it is the
  // job's last version. Never blocks.
  void committed(ModelToEvaluate model);
  // Publishes the results since the last call.
  void report();
  bool idle() const { return evaluator_->idle(); }
  // Drops models that wait. Results that are ready stay available to report().
  void end() { evaluator_.reset(); }

 private:
  explicit Evaluations(const Audience& audience) : audience_(audience) {}
  std::function<void(ModelEvaluation)> keep();
  void report(const ModelEvaluation& done);

  const Audience audience_;
  std::mutex mutex_;
  std::vector<ModelEvaluation> done_;
  // Destroyed first, so that its thread ends before its results.
  std::unique_ptr<Evaluator> evaluator_;
};

}  // namespace tributary
