// What turns a model and the data on a device into an update.
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

struct TrainOrder {
  std::uint64_t round = 0;
  std::span<const float> model;
  std::uint32_t local_steps = 0;
  double learning_rate = 0;
  std::uint64_t seed = 0;  // the job's
  bool evaluate = false;   // on the hold-out, before training
  // Called during train(), where the trainer can tell: of this update, everything from the value on
  // is final. Comes with ever lower values. May be empty.
  std::function<void(std::uint64_t first_value, const std::shared_ptr<FloatVector>& update)>
      part_ready = {};
};

// How good a model is on examples that it was not trained with.
struct Evaluation {
  std::uint64_t examples = 0;
  double loss = 0;
  double accuracy = 0;  // share of the labels that were guessed; 0 in a regression
};

struct TrainedUpdate {
  std::shared_ptr<FloatVector> update;  // as long as the model
  double loss = 0;
  std::uint64_t examples = 0;
  std::uint32_t local_steps = 0;
  std::optional<Evaluation> evaluation = {};  // where it was asked for and there is a hold-out
};

// Where an agent's examples are, and which of them are its own.
struct DataSource {
  std::string path;             // a folder or a file
  std::string format = "auto";  // as core/data/formats/open.h has them
  std::uint32_t shard = 0;      // of `shards` parts of one data set: for federations on one machine
  std::uint32_t shards = 1;
  double skew = 0;  // Dirichlet's alpha of the labels in a shard; 0: i.i.d.
  // The share of its own examples that an agent keeps back to evaluate with; 0: the test part of a
  // folder that has one.
  double hold_out = 0;
  bool evaluate = true;  // whether it evaluates at all
};

class Trainer {
 public:
  virtual ~Trainer() = default;

  // Before the first train() of a job, and when its definition has changed: opens the data, builds
  // the model, and says what does not fit. On train()'s thread.
  virtual Status prepare(const TrainingJob& job) = 0;

  // May take hours. One call at a time, all from one thread.
  virtual Result<TrainedUpdate> train(const TrainOrder& order) = 0;

  // On the hold-out, for the model that comes out in the end; nothing without a hold-out. On
  // train()'s thread.
  virtual Result<std::optional<Evaluation>> evaluate(std::span<const float> /*model*/) {
    return std::optional<Evaluation>();
  }

  // Makes a train() that is running return `cancelled`, now or soon, and every later one. Any
  // thread.
  virtual void cancel() = 0;
};

struct TrainerOptions {
  std::string agent_id;
  std::uint32_t train_ms = 0;   // synthetic: how long it seems to take
  std::uint32_t threads = 0;    // torch: of one operation; 0: as the engine likes
  std::string model_file = {};  // torch: the job's TorchScript, where it is not built in
  std::string library = {};     // torch: the engine's part of this program; empty: beside it
  DataSource data = {};         // torch
};

// Those that can be made here.
std::span<const std::string_view> trainer_names();
Result<std::unique_ptr<Trainer>> make_trainer(std::string_view name, const TrainerOptions& options);

}  // namespace tributary
