#include "core/train/trainer.h"

#include <array>

#include "core/base/nearest.h"
#include "core/train/synthetic_trainer.h"

namespace tributary {
namespace {

constexpr std::array<std::string_view, 1> kNames = {"synthetic"};

}  // namespace

std::span<const std::string_view> trainer_names() { return kNames; }

Result<std::unique_ptr<Trainer>> make_trainer(std::string_view name,
                                              const TrainerOptions& options) {
  if (name == kNames[0]) {
    return std::unique_ptr<Trainer>(std::make_unique<SyntheticTrainer>(options));
  }
  return Status(StatusCode::invalid_argument, {.what = "trainer",
                                               .expected = "one that this build has",
                                               .got = std::string(name),
                                               .remedy = did_you_mean(name, kNames)});
}

}  // namespace tributary
