// Fixed-width formats: fp32, fp16, bf16, 8-bit integers with a scale of one's own or a shared one,
// and QSGD's levels.
#pragma once

#include <span>

#include "core/codec/registry.h"

namespace tributary::quantize {

std::span<const CodecFamily> families();

// One for each name; `params` must have been checked against the family's table.
Result<std::unique_ptr<Codec>> make_fp32(const Params& params);
Result<std::unique_ptr<Codec>> make_fp16(const Params& params);
Result<std::unique_ptr<Codec>> make_bf16(const Params& params);
Result<std::unique_ptr<Codec>> make_int8(const Params& params);
Result<std::unique_ptr<Codec>> make_int8_shared(const Params& params);
Result<std::unique_ptr<Codec>> make_qsgd(const Params& params);

}  // namespace tributary::quantize
