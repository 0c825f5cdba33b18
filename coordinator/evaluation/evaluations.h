// Which committed models are evaluated, and what becomes of the figures: log, metrics, journal.
//
// Threads: one at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "coordinator/evaluation/evaluator.h"
#include "coordinator/telemetry/chronicle.h"
#include "core/base/log/log.h"
#include "core/service/metrics/metrics.h"

namespace tributary {

// What they are told to; all must outlive whoever tells.
struct Audience {
  Log& log;
  Metrics& metrics;
  Chronicle& chronicle;
};

class Evaluations {
 public:
  // Null where the settings have no test set.
  static Result<std::unique_ptr<Evaluations>> open(const EvaluatorSettings& settings,
                                                   const Audience& audience);
  Evaluations(std::unique_ptr<Trainer> trainer, const Audience& audience);

  // Every so many rounds as the job says, and the last model always.
  void committed(ModelToEvaluate model);
  // Tells what has come out since the last time.
  void tell();
  bool idle() const { return evaluator_->idle(); }
  // Drops what it is at; tell() has what was ready before.
  void end() { evaluator_.reset(); }

 private:
  explicit Evaluations(const Audience& audience) : audience_(audience) {}
  std::function<void(ModelEvaluation)> keep();
  void tell(const ModelEvaluation& done);

  const Audience audience_;
  std::mutex mutex_;
  std::vector<ModelEvaluation> done_;
  std::unique_ptr<Evaluator> evaluator_;  // its thread ends first
};

}  // namespace tributary
