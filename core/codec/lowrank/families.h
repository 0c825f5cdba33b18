// PowerSGD: a codec that sends each matrix as the product of two thin matrices. Vectors, and
// matrices that two factors would not make smaller, are sent as they are.
#pragma once

#include <span>

#include "core/codec/registry.h"

namespace tributary::lowrank {

// The table of families; constant, for core/codec/registry.cc.
std::span<const CodecFamily> families();

// Makes the codec. `params` must have been checked against the family's table.
Result<std::unique_ptr<Codec>> make_powersgd(const Params& params);

}  // namespace tributary::lowrank
