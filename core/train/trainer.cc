#include "core/train/trainer.h"

#include <algorithm>
#include <array>

#include "core/base/nearest.h"
#include "core/train/external/external_trainer.h"
#include "core/train/synthetic_trainer.h"
#include "core/train/trainer_library.h"

namespace tributary {
namespace {

constexpr std::array<std::string_view, 3> kTrainerNames = {"synthetic", "external", "torch"};
constexpr std::array<std::string_view, 3> kTrainerDevices = {"host", "cuda", "emulated"};

}  // namespace

Result<TrainerDevice> parse_trainer_device(std::string_view name) {
  const auto found = std::ranges::find(kTrainerDevices, name);
  if (found != kTrainerDevices.end()) {
    return static_cast<TrainerDevice>(found - kTrainerDevices.begin());
  }
  return Status(StatusCode::invalid_argument, {.what = "setting trainer.device",
                                               .expected = "host, cuda or emulated",
                                               .got = std::string(name),
                                               .remedy = {}});
}

std::string_view name(TrainerDevice device) {
  return kTrainerDevices.at(static_cast<std::size_t>(device));
}

// The last name is the one that needs a library.
std::span<const std::string_view> trainer_names() {
  return std::span(kTrainerNames).first(find_trainer_library("torch").empty() ? 2 : 3);
}

Result<std::unique_ptr<Trainer>> make_trainer(std::string_view name,
                                              const TrainerOptions& options) {
  if (name != kTrainerNames[2] && options.trains_on != TrainerDevice::host) {
    return Status(StatusCode::invalid_argument,
                  {.what = "setting trainer.device",
                   .expected = "host, because trainer.name is not \"torch\"",
                   .got = std::string(tributary::name(options.trains_on)),
                   .remedy = "remove it; an external trainer chooses its device itself"});
  }
  if (name == kTrainerNames[0]) {
    return std::unique_ptr<Trainer>(std::make_unique<SyntheticTrainer>(options));
  }
  if (name == kTrainerNames[1]) {
    if (!options.library.empty()) return load_external_trainer(options.library, options);
    return Status(StatusCode::invalid_argument,
                  {.what = "setting trainer.library",
                   .expected = "the path of a library, with trainer.name = \"external\"",
                   .got = "nothing",
                   .remedy = "set it"});
  }
  if (name == kTrainerNames[2]) {
    const std::string path =
        options.library.empty() ? find_trainer_library("torch") : options.library;
    if (!path.empty()) return load_trainer(path, options);
    return Status(StatusCode::unavailable,
                  {.what = "trainer torch",
                   .expected = "its library in the folder of this program",
                   .got = "none",
                   .remedy = "install it, or build with libtorch (Debian: libtorch-dev)"});
  }
  return Status(StatusCode::invalid_argument, {.what = "trainer",
                                               .expected = "one that this build has",
                                               .got = std::string(name),
                                               .remedy = did_you_mean(name, kTrainerNames)});
}

}  // namespace tributary
