// 3LC (Lim, Andersen, Kaminsky: "3LC: Lightweight and Effective Traffic Compression for Distributed
// Machine Learning") and the two codecs with three values that it is compared with.
#pragma once

#include <span>

#include "core/codec/registry.h"

namespace tributary::threelc {

std::span<const CodecFamily> families();

}  // namespace tributary::threelc
