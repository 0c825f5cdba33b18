// What can be done with a model beside training it: evaluate it on a data set, and write it down so
// that others can run it. Needs an engine, which is in the trainer's library (trainer_library.h).
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "core/base/bytes/bytes.h"
#include "core/base/status.h"
#include "core/data/data_set.h"
#include "core/train/trainer.h"
#include "core/train/training_job.h"
#include "core/update/layer_map.h"

namespace tributary {

// What a TorchScript file has to say to a job.
struct ScriptModel {
  LayerMap layers;
  std::size_t parameters = 0;  // how many of the layers; buffers are behind
  FloatVector values;          // that it begins with
};

// Threads: one at a time.
class ModelTools {
 public:
  virtual ~ModelTools() = default;

  // Builds the job's model and says what does not fit. The data is what evaluate() goes by; without
  // it a model can only be exported.
  virtual Status prepare(const TrainingJob& job, std::shared_ptr<const DataSet> data) = 0;

  // On all of the data.
  virtual Result<Evaluation> evaluate(std::span<const float> model) = 0;

  // `name` is for errors.
  virtual Result<ScriptModel> read_script(ByteSpan file, const std::string& name,
                                          const ExampleShape& input) = 0;

  // A TorchScript file that computes the same, in evaluation mode, with the layer names of the job.
  virtual Result<Bytes> export_script(std::span<const float> model) = 0;
};

struct ModelToolsOptions {
  std::uint32_t threads = 0;    // of one operation; 0: as the engine likes
  std::string model_file = {};  // the job's TorchScript, where it is not built in
  std::string library = {};     // the engine's part of this program; empty: beside it
};

Result<std::unique_ptr<ModelTools>> make_model_tools(const ModelToolsOptions& options);

}  // namespace tributary
