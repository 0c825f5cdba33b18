// A trainer that uses libtorch for gradients and Tributary's own optimizers for steps, so that
// steps have the same bits on every device.
//
// The contract is that of Trainer (core/train/trainer.h): one thread trains, and any thread may
// cancel. The trainer owns its model, data and optimizer.
#pragma once

#include <functional>
#include <memory>

#include "core/train/agent_data.h"
#include "core/train/trainer.h"
#include "core/train/training_job.h"

namespace tributary {

// Opens the data of a job; a parameter so that tests can supply data without files.
using OpenTrainingData = std::function<Result<TrainingData>(const TrainingJob& job)>;

std::unique_ptr<Trainer> make_torch_trainer(TrainerOptions options, OpenTrainingData open_data);

}  // namespace tributary
