// An agent's own part of a data set, as its settings say where it is and which part is its own.
#pragma once

#include "core/base/status.h"
#include "core/train/trainer.h"
#include "core/train/training_job.h"

namespace tributary {

// What an agent trains with, and what it keeps back: the test part of a folder that has one.
// Without a hold-out nothing is evaluated.
struct TrainingData {
  std::shared_ptr<const DataSet> train;
  std::shared_ptr<const DataSet> hold_out;
};

// The draw of the shards is the job's: all agents must name the same number of them.
Result<TrainingData> open_training_data(const DataSource& source, const TrainingJob& job);

}  // namespace tributary
