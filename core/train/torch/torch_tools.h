#pragma once

#include <memory>

#include "core/train/model_tools.h"

namespace tributary {

std::unique_ptr<ModelTools> make_torch_tools(const ModelToolsOptions& options);

}  // namespace tributary
