// Operations on a finished model: evaluate it on a data set, and export it for other programs. They
// need an engine, which is in the trainer's library (trainer_library.h).
//
// The object owns the engine's model. Operations block for as long as the computation takes and use
// the options' number of threads.
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

// The contents of a TorchScript file that a job definition needs.
struct ScriptModel {
  LayerMap layers;
  std::size_t parameters = 0;  // number of layers that are parameters; the buffers follow
  FloatVector values;          // initial values
};

// Used by one thread at a time. prepare() comes first; the other functions but read_script() fail
// with mismatch before it, or if the number of values is not the model's.
class ModelTools {
 public:
  virtual ~ModelTools() = default;

  // Builds the job's model and checks that job, data and file fit together. `data` is used by
  // evaluate(); it may be null for an export. Fails as Trainer::prepare() does.
  virtual Status prepare(const TrainingJob& job, std::shared_ptr<const DataSet> data) = 0;

  // Evaluates on all of the data, with the job's loss.
  virtual Result<Evaluation> evaluate(std::span<const float> model) = 0;

  // Reads a TorchScript file without preparing a job. `name` is used in errors. Fails with
  // unsupported if the file is damaged, or needs an unknown operator or another type than float32.
  virtual Result<ScriptModel> read_script(ByteSpan file, const std::string& name,
                                          const ExampleShape& input) = 0;

  // Returns a TorchScript file with the same computation, in evaluation mode, with the job's layer
  // names.
  virtual Result<Bytes> export_script(std::span<const float> model) = 0;
};

// Options of the engine.
struct ModelToolsOptions {
  std::uint32_t threads = 0;    // threads of one operation; 0: the engine's default
  std::string model_file = {};  // path of the job's TorchScript; empty for a built-in model
  std::string library = {};     // path of the trainer's library; empty: find_trainer_library()
};

// Fails with unavailable if the library is missing or belongs to another version.
Result<std::unique_ptr<ModelTools>> make_model_tools(const ModelToolsOptions& options);

}  // namespace tributary
