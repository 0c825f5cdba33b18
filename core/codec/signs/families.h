// One bit per value: signSGD with majority vote, EF-signSGD, and OneBit with its two means.
#pragma once

#include <span>

#include "core/codec/registry.h"

namespace tributary::signs {

std::span<const CodecFamily> families();

// One for each name; `params` must have been checked against the family's table.
Result<std::unique_ptr<Codec>> make_signsgd(const Params& params);
Result<std::unique_ptr<Codec>> make_ef_signsgd(const Params& params);
Result<std::unique_ptr<Codec>> make_onebit(const Params& params);

}  // namespace tributary::signs
