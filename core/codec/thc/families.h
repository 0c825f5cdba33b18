// Tensor homomorphic compression (Li et al., NSDI 2024): rotate, quantize to levels that all agents
// share, and add the levels without decoding them.
#pragma once

#include <span>

#include "core/codec/registry.h"

namespace tributary::thc {

std::span<const CodecFamily> families();

Result<std::unique_ptr<Codec>> make_thc(const Params& params);

}  // namespace tributary::thc
