// Trains with libtorch: gradients by the engine, steps by our own optimizers.
#pragma once

#include <functional>
#include <memory>

#include "core/train/trainer.h"
#include "core/train/training_job.h"

namespace tributary {

// What an agent trains with and what it keeps back. Without a hold-out nothing is evaluated.
struct TrainingData {
  std::shared_ptr<const DataSet> train;
  std::shared_ptr<const DataSet> hold_out;
};
using OpenTrainingData = std::function<Result<TrainingData>(const TrainingJob& job)>;

std::unique_ptr<Trainer> make_torch_trainer(TrainerOptions options, OpenTrainingData open_data);

}  // namespace tributary
