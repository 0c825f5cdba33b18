// What turns a model and the data on a device into an update.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/bytes.h"
#include "core/base/status.h"

namespace tributary {

struct TrainOrder {
  std::uint64_t round = 0;
  std::span<const float> model;
  std::uint32_t local_steps = 0;
  double learning_rate = 0;
  std::uint64_t seed = 0;  // the job's
  bool evaluate = false;
};

struct TrainedUpdate {
  FloatVector update;  // as long as the model
  double loss = 0;
  std::uint64_t examples = 0;
  std::uint32_t local_steps = 0;
};

class Trainer {
 public:
  virtual ~Trainer() = default;

  // May take hours. One call at a time, all from one thread.
  virtual Result<TrainedUpdate> train(const TrainOrder& order) = 0;

  // Makes a train() that is running return `cancelled`, now or soon, and every later one. Any
  // thread.
  virtual void cancel() = 0;
};

struct TrainerOptions {
  std::string agent_id;
  std::uint32_t train_ms = 0;  // synthetic: how long it seems to take
};

std::span<const std::string_view> trainer_names();
Result<std::unique_ptr<Trainer>> make_trainer(std::string_view name, const TrainerOptions& options);

}  // namespace tributary
