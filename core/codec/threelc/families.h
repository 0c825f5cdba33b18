// 3LC (Lim, Andersen, Kaminsky: "3LC: Lightweight and Effective Traffic Compression for Distributed
// Machine Learning"), and two other codecs with three values (stoch3, terngrad) for comparison.
#pragma once

#include <span>

#include "core/codec/registry.h"

namespace tributary::threelc {

// The table of families; constant, for core/codec/registry.cc.
std::span<const CodecFamily> families();

}  // namespace tributary::threelc
