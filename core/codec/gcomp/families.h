// GComp: exponents by Huffman codes, mantissas truncated to what reaches the parameter.
#pragma once

#include <span>

#include "core/codec/registry.h"

namespace tributary::gcomp {

std::span<const CodecFamily> families();

// `params` must have been checked against the family's table.
Result<std::unique_ptr<Codec>> make_gcomp(const Params& params);

}  // namespace tributary::gcomp
