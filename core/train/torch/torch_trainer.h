// Trains with libtorch: gradients by the engine, steps by our own optimizers.
#pragma once

#include <functional>
#include <memory>

#include "core/train/agent_data.h"
#include "core/train/trainer.h"
#include "core/train/training_job.h"

namespace tributary {

using OpenTrainingData = std::function<Result<TrainingData>(const TrainingJob& job)>;

std::unique_ptr<Trainer> make_torch_trainer(TrainerOptions options, OpenTrainingData open_data);

}  // namespace tributary
