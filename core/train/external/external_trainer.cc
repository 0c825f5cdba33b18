#include "core/train/external/external_trainer.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <array>
#include <atomic>
#include <utility>

#include "core/codec/device/codec_device.h"
#include "core/train/external/tributary_trainer.h"
#include "core/train/training_job.h"

namespace tributary {
namespace {

constexpr int kTrained = 0;
constexpr int kCancelled = 2;
constexpr std::uint32_t kFirstWithDevices = 2;

// The functions of a library.
struct Functions {
  decltype(&tributary_trainer_interface) interface = nullptr;
  decltype(&tributary_trainer_create) create = nullptr;
  decltype(&tributary_trainer_destroy) destroy = nullptr;
  decltype(&tributary_trainer_prepare) prepare = nullptr;
  decltype(&tributary_trainer_train) train = nullptr;
  decltype(&tributary_trainer_cancel) cancel = nullptr;  // null: the library has none
};

Status not_usable(const std::string& path, std::string expected, std::string got) {
  return Status(StatusCode::unavailable,
                {.what = fmt::format("trainer library '{}'", path),
                 .expected = std::move(expected),
                 .got = std::move(got),
                 .remedy = "build it with core/train/external/tributary_trainer.h"});
}

template <typename Function>
void find(void* library, const char* name, Function*& function) {
  function = reinterpret_cast<Function*>(dlsym(library, name));
}

Result<Functions> load(const std::string& path) {
  void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* const why = dlerror();
    return not_usable(path, "a library that can be loaded", why != nullptr ? why : "another file");
  }
  Functions found;
  find(library, "tributary_trainer_interface", found.interface);
  find(library, "tributary_trainer_create", found.create);
  find(library, "tributary_trainer_destroy", found.destroy);
  find(library, "tributary_trainer_prepare", found.prepare);
  find(library, "tributary_trainer_train", found.train);
  find(library, "tributary_trainer_cancel", found.cancel);
  if (found.interface == nullptr || found.create == nullptr || found.destroy == nullptr ||
      found.prepare == nullptr || found.train == nullptr) {
    return not_usable(path, "the functions of a trainer's C interface", "a library without them");
  }
  const std::uint32_t version = found.interface();
  if (version < 1 || version > TRIBUTARY_TRAINER_INTERFACE) {
    return not_usable(path, fmt::format("interface 1 to {}", TRIBUTARY_TRAINER_INTERFACE),
                      fmt::format("{}", version));
  }
  return found;
}

// The memory of the device that encodes; 0: it takes no updates.
std::uint32_t memory_of(CodecDevice* device) {
  if (device == nullptr || device->vectors() == nullptr) return 0;
  if (device->name() == "cuda") return TRIBUTARY_MEMORY_CUDA;
  return device->name() == "emulated" ? TRIBUTARY_MEMORY_EMULATED : 0;
}

// The text that a library has written; it need not have ended it.
class ErrorText {
 public:
  char* data() { return text_.data(); }
  Status status(StatusCode code, std::string_view function) {
    text_.back() = '\0';
    return Status(code, {.what = fmt::format("{} of the trainer's library", function),
                         .expected = "success",
                         .got = text_[0] == '\0' ? "a failure without a text" : text_.data(),
                         .remedy = {}});
  }

 private:
  std::array<char, TRIBUTARY_ERROR_BYTES> text_ = {};
};

class ExternalTrainer final : public Trainer {
 public:
  ExternalTrainer(const Functions& library, const TrainerOptions& options)
      : library_(library),
        version_(library.interface()),
        options_(options),
        device_memory_(version_ >= kFirstWithDevices ? memory_of(options.device) : 0) {}
  ~ExternalTrainer() override {
    if (void* const trainer = trainer_.load()) library_.destroy(trainer);
  }
  ExternalTrainer(const ExternalTrainer&) = delete;
  ExternalTrainer& operator=(const ExternalTrainer&) = delete;

  Status prepare(const TrainingJob& job) override {
    prepared_ = false;
    TRIBUTARY_TRY(create());
    const tributary_trainer_job given = {.bytes = sizeof(given),
                                         .revision = job.revision,
                                         .job = job.job,
                                         .seed = job.seed,
                                         .gradient = job.gradient ? 1u : 0u,
                                         .batch_size = job.batch_size,
                                         .model = job.model.c_str(),
                                         .loss = job.loss.c_str()};
    ErrorText error;
    if (library_.prepare(trainer_, &given, error.data()) != kTrained) {
      return error.status(StatusCode::invalid_argument, "tributary_trainer_prepare");
    }
    prepared_ = true;
    return {};
  }

  Result<TrainedUpdate> train(const TrainOrder& order) override {
    if (cancelled_) return Status(StatusCode::cancelled, {.what = "training"});
    if (!prepared_) {
      return Status(StatusCode::invalid_argument, {.what = "training",
                                                   .expected = "a prepared trainer",
                                                   .got = "none",
                                                   .remedy = "correct the job"});
    }
    TrainedUpdate trained;
    trained.update = std::make_shared<FloatVector>(order.model.size());
    const tributary_trainer_order given = {.bytes = sizeof(given),
                                           .local_steps = order.local_steps,
                                           .round = order.round,
                                           .seed = order.seed,
                                           .learning_rate = order.learning_rate,
                                           .model = order.model.data(),
                                           .values = order.model.size()};
    tributary_trainer_update update = {.bytes = sizeof(update),
                                       .local_steps = order.local_steps,
                                       .values = trained.update->data(),
                                       .loss = 0,
                                       .examples = 0,
                                       .device_values = nullptr,
                                       .memory = TRIBUTARY_MEMORY_HOST};
    ErrorText error;
    const int result = library_.train(trainer_, &given, &update, error.data());
    if (result == kCancelled) return Status(StatusCode::cancelled, {.what = "training"});
    if (result != kTrained) return error.status(StatusCode::unavailable, "tributary_trainer_train");
    trained.loss = update.loss;
    trained.examples = update.examples;
    trained.local_steps = update.local_steps;
    if (version_ >= kFirstWithDevices && update.memory != TRIBUTARY_MEMORY_HOST) {
      TRIBUTARY_TRY(take_from_device(update, trained));
    }
    return trained;
  }

  void cancel() override {
    cancelled_ = true;
    void* const trainer = trainer_.load();
    if (trainer != nullptr && library_.cancel != nullptr) library_.cancel(trainer);
  }

 private:
  // The device is known only when the agent runs, so a check of the settings creates no trainer.
  Status create() {
    if (trainer_.load() != nullptr) return {};
    const tributary_trainer_options given = {.bytes = sizeof(given),
                                             .threads = options_.threads,
                                             .agent_id = options_.agent_id.c_str(),
                                             .model_file = options_.model_file.c_str(),
                                             .data_path = options_.data.path.c_str(),
                                             .shard = options_.data.shard,
                                             .shards = options_.data.shards,
                                             .memories = TRIBUTARY_MEMORY_HOST | device_memory_};
    ErrorText error;
    trainer_ = library_.create(&given, error.data());
    if (trainer_.load() != nullptr) return {};
    return error.status(StatusCode::unavailable, "tributary_trainer_create");
  }

  Status take_from_device(const tributary_trainer_update& update, TrainedUpdate& trained) const {
    if (device_memory_ == 0 || update.memory != device_memory_ || update.device_values == nullptr) {
      return Status(
          StatusCode::unsupported,
          {.what = "update of the trainer's library",
           .expected = device_memory_ == 0 ? "host memory, because the host encodes (codec.device)"
                                           : "host memory, or that of the device that encodes",
           .got = fmt::format("memory {}", update.memory),
           .remedy = "obey `memories` of tributary_trainer_create"});
    }
    DeviceVectors& vectors = *options_.device->vectors();
    const std::span<const float> values(update.device_values, trained.update->size());
    Result<std::shared_ptr<DeviceVector>> copy = vectors.copy_of(values);
    if (copy.ok()) {
      trained.on_device = std::move(*copy);
      trained.update.reset();
      return {};
    }
    options_.device->report(copy.status());
    return vectors.read(values, *trained.update);
  }

  const Functions library_;
  const std::uint32_t version_;
  const TrainerOptions options_;
  const std::uint32_t device_memory_;
  std::atomic<void*> trainer_ = nullptr;  // null until the first prepare()
  std::atomic<bool> cancelled_ = false;
  bool prepared_ = false;
};

}  // namespace

Result<std::unique_ptr<Trainer>> load_external_trainer(const std::string& path,
                                                       const TrainerOptions& options) {
  TRIBUTARY_ASSIGN(const Functions library, load(path));
  return std::unique_ptr<Trainer>(std::make_unique<ExternalTrainer>(library, options));
}

}  // namespace tributary
