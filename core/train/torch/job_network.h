// Opens the model of a job and evaluates values of it on a data set; trainers and tools share it.
// All functions are called from one thread at a time.
//
// The data set and the job must outlive the call.
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

// Opens the job's built-in model or TorchScript. `model_file` is the path of the TorchScript on
// this device; if it is empty, the file's content in the job is used. Fails with not_found (no
// file), mismatch (another file than the job's, or other layers), or as TorchModel does.
Result<std::unique_ptr<TorchModel>> open_job_model(const TrainingJob& job,
                                                   const std::string& model_file,
                                                   TrainerDevice device = TrainerDevice::host);

// Fails with invalid_argument if `data` is empty and with mismatch if its shape differs from the
// job's. `part` is used in errors.
Status check_shape(const TrainingJob& job, const DataSet& data, std::string_view part);

// Binds the model to `values` for evaluation. The buffers are copied to `buffers`, because the
// engine could change them; both must stay in place until the next bind().
void bind_to_evaluate(TorchModel& model, std::span<const float> values, FloatVector& buffers);

// Evaluates on all examples in order. `stop` is called between batches; if it returns true, the
// result is `cancelled`.
Result<Evaluation> evaluate_on(TorchModel& model, const DataSet& data, Loss loss,
                               const std::function<bool()>& stop);

}  // namespace tributary
