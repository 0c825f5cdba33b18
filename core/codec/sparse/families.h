// Sparse codecs: they send a few values of a bucket with their indices; the rest stays in the
// residual.
#pragma once

#include <span>

#include "core/codec/registry.h"

namespace tributary::sparse {

// The table of families; constant, for core/codec/registry.cc.
std::span<const CodecFamily> families();

// Make one codec each. `params` must have been checked against the family's table.
Result<std::unique_ptr<Codec>> make_topk(const Params& params);
Result<std::unique_ptr<Codec>> make_mstopk(const Params& params);
Result<std::unique_ptr<Codec>> make_dgc(const Params& params);
Result<std::unique_ptr<Codec>> make_threshold(const Params& params);
Result<std::unique_ptr<Codec>> make_randk(const Params& params);
Result<std::unique_ptr<Codec>> make_star_topk(const Params& params);
Result<std::unique_ptr<Codec>> make_var_topk(const Params& params);

}  // namespace tributary::sparse
