// GComp: a codec that Huffman-codes exponents and truncates mantissas to the bits that affect the
// parameter.
#pragma once

#include <span>

#include "core/codec/registry.h"

namespace tributary::gcomp {

// The table of families; constant, for core/codec/registry.cc.
std::span<const CodecFamily> families();

// Makes the codec. `params` must have been checked against the family's table.
Result<std::unique_ptr<Codec>> make_gcomp(const Params& params);

}  // namespace tributary::gcomp
