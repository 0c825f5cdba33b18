// A trainer library for tests: the updates of the synthetic trainer, with one bad value in some
// rounds. The setting trainer.model_file says which: "VALUE:FIRST:LAST", the value and the rounds.
#include <charconv>
#include <string_view>
#include <utility>

#include "core/train/synthetic_trainer.h"
#include "core/train/trainer_library.h"

namespace tributary {
namespace {

// Takes the text up to the next colon.
std::string_view take_word(std::string_view& text) {
  const std::size_t colon = std::min(text.find(':'), text.size());
  const std::string_view word = text.substr(0, colon);
  text.remove_prefix(std::min(colon + 1, text.size()));
  return word;
}

template <typename Number>
Number number_of(std::string_view text) {
  Number number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

class FaultyTrainer final : public Trainer {
 public:
  explicit FaultyTrainer(const TrainerOptions& options) : synthetic_(options) {
    std::string_view fault = options.model_file;
    value_ = number_of<float>(take_word(fault));
    first_ = number_of<std::uint64_t>(take_word(fault));
    last_ = number_of<std::uint64_t>(take_word(fault));
  }

  Status prepare(const TrainingJob& job) override { return synthetic_.prepare(job); }
  Result<TrainedUpdate> train(const TrainOrder& order) override {
    Result<TrainedUpdate> trained = synthetic_.train(order);
    if (trained.ok() && order.round >= first_ && order.round <= last_) {
      (*trained->update)[trained->update->size() / 2] = value_;
    }
    return trained;
  }
  void cancel() override { synthetic_.cancel(); }

 private:
  SyntheticTrainer synthetic_;
  float value_ = 0;
  std::uint64_t first_ = 0;
  std::uint64_t last_ = 0;
};

}  // namespace
}  // namespace tributary

extern "C" {
__attribute__((visibility("default"))) const char* tributary_trainer_version() {
  return tributary::trainer_library_version();
}
__attribute__((visibility("default"))) void tributary_trainer_make(
    const tributary::TrainerOptions& options, std::unique_ptr<tributary::Trainer>& trainer) {
  trainer = std::make_unique<tributary::FaultyTrainer>(options);
}
}
