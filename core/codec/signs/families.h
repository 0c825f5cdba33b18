// Codecs with one bit per value: signSGD with majority vote, EF-signSGD, and OneBit with two means.
#pragma once

#include <span>

#include "core/codec/registry.h"

namespace tributary::signs {

// The table of families; constant, for core/codec/registry.cc.
std::span<const CodecFamily> families();

// Make one codec each. `params` must have been checked against the family's table.
Result<std::unique_ptr<Codec>> make_signsgd(const Params& params);
Result<std::unique_ptr<Codec>> make_ef_signsgd(const Params& params);
Result<std::unique_ptr<Codec>> make_onebit(const Params& params);

}  // namespace tributary::signs
