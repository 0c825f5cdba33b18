// A trainer library for tests: libtorch's trainer, whose trainings take at least as many
// milliseconds as the setting trainer.model_file says.
#include <charconv>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <utility>

#include "core/train/trainer_library.h"

namespace tributary {
namespace {

class SlowTrainer final : public Trainer {
 public:
  SlowTrainer(std::unique_ptr<Trainer> torch, std::chrono::milliseconds least)
      : torch_(std::move(torch)), least_(least) {}

  Status prepare(const TrainingJob& job) override { return torch_->prepare(job); }
  // No part of the update is ready before its end.
  Result<TrainedUpdate> train(const TrainOrder& order) override {
    const auto end = std::chrono::steady_clock::now() + least_;
    TrainOrder whole = order;
    whole.part_ready = {};
    Result<TrainedUpdate> trained = torch_->train(whole);
    std::unique_lock lock(mutex_);
    changed_.wait_until(lock, end, [&] { return cancelled_; });
    return trained;
  }
  Result<std::optional<Evaluation>> evaluate(std::span<const float> model) override {
    return torch_->evaluate(model);
  }
  void cancel() override {
    torch_->cancel();
    {
      const std::lock_guard lock(mutex_);
      cancelled_ = true;
    }
    changed_.notify_all();
  }

 private:
  const std::unique_ptr<Trainer> torch_;
  const std::chrono::milliseconds least_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool cancelled_ = false;
};

}  // namespace
}  // namespace tributary

extern "C" {
__attribute__((visibility("default"))) const char* tributary_trainer_version() {
  return tributary::trainer_library_version();
}
// Makes no trainer, which the agent reports, if libtorch's is not there.
__attribute__((visibility("default"))) void tributary_trainer_make(
    const tributary::TrainerOptions& options, std::unique_ptr<tributary::Trainer>& trainer) {
  const std::string& text = options.model_file;
  int least_ms = 0;
  std::from_chars(text.data(), text.data() + text.size(), least_ms);
  tributary::TrainerOptions of_torch = options;
  of_torch.model_file.clear();
  auto torch = tributary::load_trainer(tributary::find_trainer_library("torch"), of_torch);
  if (!torch.ok()) return;
  trainer = std::make_unique<tributary::SlowTrainer>(*std::move(torch),
                                                     std::chrono::milliseconds(least_ms));
}
}
