// A trainer without data whose update is a pure function of job seed, agent and round. Tests of
// later stages can compute the expected update, and load tests need no engine.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <span>
#include <string>
#include <string_view>

#include "core/train/trainer.h"

namespace tributary {

// Fills `out` with multiples of 1/64 in [-1, 1). Sums of up to 2^17 of them are exact in float, so
// a test can compare sums in any order.
void fill_synthetic_update(std::uint64_t job_seed, std::string_view agent_id, std::uint64_t round,
                           std::span<float> out);

class SyntheticTrainer final : public Trainer {
 public:
  // train() waits for options.train_ms to imitate a training time; cancel() ends the wait.
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
