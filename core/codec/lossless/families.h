// General-purpose compressors on float32 as it is: what one gets without knowing what a gradient
// is.
#pragma once

#include <span>

#include "core/codec/registry.h"

namespace tributary::lossless {

std::span<const CodecFamily> families();

}  // namespace tributary::lossless
