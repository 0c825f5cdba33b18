// The libtorch implementation of ModelTools.
//
// It is part of the shared library that a process loads at run time, so a process that does not use
// it needs no libtorch.
#pragma once

#include <memory>

#include "core/train/model_tools.h"

namespace tributary {

// Creates the tools; never null. The shared library exports a function that calls this one.
std::unique_ptr<ModelTools> make_torch_tools(const ModelToolsOptions& options);

}  // namespace tributary
