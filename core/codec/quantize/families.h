// Codecs with a fixed number of bits per value: fp32, fp16, bf16, int8 with own or shared scales,
// and QSGD.
#pragma once

#include <span>

#include "core/codec/registry.h"

namespace tributary::quantize {

// The table of families; constant, for core/codec/registry.cc.
std::span<const CodecFamily> families();

// Make one codec each. `params` must have been checked against the family's table.
Result<std::unique_ptr<Codec>> make_fp32(const Params& params);
Result<std::unique_ptr<Codec>> make_fp16(const Params& params);
Result<std::unique_ptr<Codec>> make_bf16(const Params& params);
Result<std::unique_ptr<Codec>> make_int8(const Params& params);
Result<std::unique_ptr<Codec>> make_int8_shared(const Params& params);
Result<std::unique_ptr<Codec>> make_qsgd(const Params& params);

}  // namespace tributary::quantize
