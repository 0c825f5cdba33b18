// The model of a job, and how good values for it are on a data set: for trainers and for tools.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>

#include "core/base/status.h"
#include "core/data/data_set.h"
#include "core/train/torch/torch_model.h"
#include "core/train/training_job.h"

namespace tributary {

// `model_file` is where the job's TorchScript lies, if it has one. An error where the layers are
// not the job's.
Result<std::unique_ptr<TorchModel>> open_job_model(const TrainingJob& job,
                                                   const std::string& model_file);

Status check_shape(const TrainingJob& job, const DataSet& data, std::string_view part);

// Copies of the buffers are in `buffers` afterwards, and the model is bound to them.
void bind_to_evaluate(TorchModel& model, std::span<const float> values, FloatVector& buffers);

// On all examples; `stop` is asked between batches.
Result<Evaluation> evaluate_on(TorchModel& model, const DataSet& data, Loss loss,
                               const std::function<bool()>& stop);

}  // namespace tributary
