// General-purpose lossless compressors (zstd, zlib) applied to float32 values. They are the
// baseline that uses no knowledge of gradients. Their sizes show what other codecs gain by knowing
// what the values are.
#pragma once

#include <span>

#include "core/codec/registry.h"

namespace tributary::lossless {

// The table of families; constant, for core/codec/registry.cc.
std::span<const CodecFamily> families();

}  // namespace tributary::lossless
