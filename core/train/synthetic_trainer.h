// Updates that follow from their address alone, so that whoever knows job, agent and round knows
// the update: for tests of everything behind the training, and for load.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <span>
#include <string>
#include <string_view>

#include "core/train/trainer.h"

namespace tributary {

// Multiples of 1/64 in [-1, 1): sums over up to 2^17 of them are exact in float.
void fill_synthetic_update(std::uint64_t job_seed, std::string_view agent_id, std::uint64_t round,
                           std::span<float> out);

class SyntheticTrainer final : public Trainer {
 public:
  explicit SyntheticTrainer(TrainerOptions options) : options_(std::move(options)) {}

  Status prepare(const TrainingJob& /*job*/) override { return {}; }
  Result<TrainedUpdate> train(const TrainOrder& order) override;
  void cancel() override;

 private:
  const TrainerOptions options_;
  std::mutex mutex_;
  std::condition_variable cancelled_changed_;
  bool cancelled_ = false;
};

}  // namespace tributary
