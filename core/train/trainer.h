// The interface between the runtime and a trainer: it turns a model and the data on a device into
// an update. The caller makes all calls but cancel() from one thread, one at a time; cancel() may
// come from any thread.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/bytes/bytes.h"
#include "core/base/status.h"

namespace tributary {

struct TrainingJob;  // core/train/training_job.h
class CodecDevice;   // core/codec/device/codec_device.h
class DeviceVector;  // core/codec/device/device_vector.h

// One training task. The model must stay valid and unchanged until train() returns.
struct TrainOrder {
  std::uint64_t round = 0;
  std::span<const float> model;
  std::uint32_t local_steps = 0;
  double learning_rate = 0;
  std::uint64_t seed = 0;  // seed of the job
  bool evaluate = false;   // also evaluate the model on the hold-out, before training
  // Called during train(), on its thread, by trainers that know it: all values of `update` from
  // `first_value` on are final. `first_value` decreases from call to call. May be empty.
  std::function<void(std::uint64_t first_value, const std::shared_ptr<FloatVector>& update)>
      part_ready = {};
};

// Quality of a model on examples that it was not trained with.
struct Evaluation {
  std::uint64_t examples = 0;
  double loss = 0;
  double accuracy = 0;  // share of correct labels; 0 in a regression
};

// The result of a training task.
struct TrainedUpdate {
  std::shared_ptr<FloatVector> update;  // same length as the model; null if it is on a device
  // Mean loss over the steps.
  double loss = 0;
  std::uint64_t examples = 0;
  std::uint32_t local_steps = 0;
  std::optional<Evaluation> evaluation = {};  // present if it was requested and a hold-out exists
  std::shared_ptr<DeviceVector> on_device = nullptr;  // of TrainerOptions::device
};

// The location of an agent's examples, and its share of them.
struct DataSource {
  std::string path;             // a folder or a file
  std::string format = "auto";  // a name of core/data/formats/open.h
  // Index among `shards` parts of one data set, for federations on one machine.
  std::uint32_t shard = 0;
  std::uint32_t shards = 1;
  double skew = 0;  // Dirichlet alpha of the labels in a shard; 0: i.i.d.
  // Share of the agent's own examples that is held out for evaluation. With 0, the test part of a
  // folder is used if it has one.
  double hold_out = 0;
  bool evaluate = true;  // false: never evaluate, and hold nothing out
};

class Trainer {
 public:
  virtual ~Trainer() = default;

  // Called before the first train() of a job and after a change of its definition. Opens the data,
  // builds the model and checks that they fit. Fails with invalid_argument, not_found, mismatch or
  // unsupported; train() then fails until a prepare() succeeds.
  virtual Status prepare(const TrainingJob& job) = 0;

  // Computes an update; it may take hours. Fails with cancelled, not_finite (the loss), mismatch
  // (the model), or the error of reading the data.
  virtual Result<TrainedUpdate> train(const TrainOrder& order) = 0;

  // Evaluates the job's final model on the hold-out. Empty without a hold-out.
  virtual Result<std::optional<Evaluation>> evaluate(std::span<const float> /*model*/) {
    return std::optional<Evaluation>();
  }

  // Makes the running train() return `cancelled` soon, and every later one at once. It cannot be
  // undone. Any thread.
  virtual void cancel() = 0;
};

// The memory and the processor with which the libtorch trainer computes. `emulated` is the
// processor with memory of its own, which stands for that of an emulated GPU in tests.
enum class TrainerDevice : std::uint8_t { host, cuda, emulated };
// Fails with invalid_argument, and names the choices.
Result<TrainerDevice> parse_trainer_device(std::string_view name);
std::string_view name(TrainerDevice device);

// Options of an agent's trainer; a trainer ignores those of others.
struct TrainerOptions {
  std::string agent_id;
  std::uint32_t train_ms = 0;   // synthetic: simulated training time
  std::uint32_t threads = 0;    // torch: threads of one operation; 0: the engine's default
  std::string model_file = {};  // torch: path of the job's TorchScript; empty for a built-in model
  // torch, external: path of the trainer's library; empty, for torch: find_trainer_library()
  std::string library = {};
  DataSource data = {};                           // torch
  TrainerDevice trains_on = TrainerDevice::host;  // torch
  // torch, external: where the agent encodes, which takes updates on that device; outlives the
  // trainer. Null: all updates are in host memory.
  CodecDevice* device = nullptr;
};

// Names of the trainers that are available here: "torch" only if its library is found. "external"
// is a library with a C interface (core/train/external/tributary_trainer.h).
std::span<const std::string_view> trainer_names();
// Fails with invalid_argument (unknown name) or unavailable (no library).
Result<std::unique_ptr<Trainer>> make_trainer(std::string_view name, const TrainerOptions& options);

}  // namespace tributary
