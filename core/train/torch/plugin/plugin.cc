#include <memory>
#include <utility>

#include "core/base/bytes/block_cache.h"
#include "core/train/agent_data.h"
#include "core/train/torch/torch_model.h"
#include "core/train/torch/torch_tools.h"
#include "core/train/torch/torch_trainer.h"
#include "core/train/trainer_library.h"

namespace tributary {
extern "C" {

__attribute__((visibility("default"))) const char* tributary_trainer_version() {
  return trainer_library_version();
}

__attribute__((visibility("default"))) void tributary_trainer_memory(BlockCache& cache) {
  use_block_cache(cache);
}

__attribute__((visibility("default"))) void tributary_trainer_make(
    const TrainerOptions& options, std::unique_ptr<Trainer>& trainer) {
  trainer = make_torch_trainer(options, [source = options.data](const TrainingJob& job) {
    return open_training_data(source, job);
  });
}

__attribute__((visibility("default"))) void tributary_trainer_check(const TrainerOptions& options,
                                                                    Status& status) {
  status = check_engine_has(options.trains_on);
}

__attribute__((visibility("default"))) void tributary_model_tools_make(
    const ModelToolsOptions& options, std::unique_ptr<ModelTools>& tools) {
  tools = make_torch_tools(options);
}

}  // extern "C"
}  // namespace tributary
