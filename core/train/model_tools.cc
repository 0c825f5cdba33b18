#include "core/train/model_tools.h"

#include "core/train/trainer_library.h"

namespace tributary {

Result<std::unique_ptr<ModelTools>> make_model_tools(const ModelToolsOptions& options) {
  const std::string library =
      options.library.empty() ? find_trainer_library("torch") : options.library;
  if (!library.empty()) return load_model_tools(library, options);
  return Status(StatusCode::unavailable,
                {.what = "library that runs models",
                 .expected = "libtributary-torch.so in the folder of this program",
                 .got = "none",
                 .remedy = "install the trainer's package, or use a format without an engine"});
}

}  // namespace tributary
