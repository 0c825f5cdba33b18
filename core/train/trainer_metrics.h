// Converts an evaluation to the metrics that an agent reports in a round. A pure function; NaN
// stays NaN and is left out of the report later.
#pragma once

#include <vector>

#include "core/round/common/machine/events.h"
#include "core/train/trainer.h"

namespace tributary {

inline std::vector<AgentMetric> metrics_of(const Evaluation& evaluation) {
  return {{.kind = ReadingKind::evaluation_loss, .value = evaluation.loss},
          {.kind = ReadingKind::evaluation_accuracy, .value = evaluation.accuracy},
          {.kind = ReadingKind::evaluation_examples,
           .value = static_cast<double>(evaluation.examples)}};
}

}  // namespace tributary
