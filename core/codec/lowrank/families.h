// Matrices sent as the product of two thin ones: PowerSGD.
#pragma once

#include <span>

#include "core/codec/registry.h"

namespace tributary::lowrank {

std::span<const CodecFamily> families();

// `params` must have been checked against the family's table.
Result<std::unique_ptr<Codec>> make_powersgd(const Params& params);

}  // namespace tributary::lowrank
