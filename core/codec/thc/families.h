// Tensor homomorphic compression (Li et al., NSDI 2024): it rotates blocks, quantizes them to
// levels that all agents share, and adds levels without decoding them.
#pragma once

#include <span>

#include "core/codec/registry.h"

namespace tributary::thc {

// The table of families; constant, for core/codec/registry.cc.
std::span<const CodecFamily> families();

// Makes the codec. `params` must have been checked against the family's table. Fails like
// plan_table() (table/table_plan.h).
Result<std::unique_ptr<Codec>> make_thc(const Params& params);

}  // namespace tributary::thc
