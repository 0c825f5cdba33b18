#include "core/train/synthetic_trainer.h"

#include <chrono>

#include "core/base/bytes/checksum.h"
#include "core/base/random.h"

namespace tributary {

void fill_synthetic_update(std::uint64_t job_seed, std::string_view agent_id, std::uint64_t round,
                           std::span<float> out) {
  // 31 bits: never kSharedDraw
  const std::uint32_t agent = checksum32(bytes_of(agent_id)) & 0x7fff'ffffu;
  const StreamKey key = stream_key({.job_seed = job_seed,
                                    .round = round,
                                    .purpose = DrawPurpose::synthetic_data,
                                    .agent = agent});
  for (std::size_t i = 0; i < out.size(); ++i) {
    const std::uint32_t seven_bits = random_bits(key, static_cast<std::uint32_t>(i)) >> 25;
    out[i] = (static_cast<float>(seven_bits) - 64) / 64;
  }
}

Result<TrainedUpdate> SyntheticTrainer::train(const TrainOrder& order) {
  TrainedUpdate trained;
  trained.update = std::make_shared<FloatVector>(order.model.size());
  fill_synthetic_update(order.seed, options_.agent_id, order.round, *trained.update);
  trained.loss = 1.0 / static_cast<double>(order.round + 1);
  trained.examples = 1;
  trained.local_steps = order.local_steps;
  // The simulated training time; cancel() ends it early.
  std::unique_lock lock(mutex_);
  cancelled_changed_.wait_for(lock, std::chrono::milliseconds(options_.train_ms),
                              [&] { return cancelled_; });
  if (cancelled_) return Status(StatusCode::cancelled, {.what = "training"});
  return trained;
}

void SyntheticTrainer::cancel() {
  const std::lock_guard lock(mutex_);
  cancelled_ = true;
  cancelled_changed_.notify_all();
}

}  // namespace tributary
