#pragma once

#include <memory>

#include "core/train/model_tools.h"

namespace tributary {

// Creates the libtorch implementation of ModelTools; the shared library exports it.
std::unique_ptr<ModelTools> make_torch_tools(const ModelToolsOptions& options);

}  // namespace tributary
