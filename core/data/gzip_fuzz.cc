// Fuzzes decompression: any input is accepted, and a result never exceeds the limit.
#include <cstdlib>

#include "core/data/source.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::size_t kSizeMax = 1 << 16;
  const auto out = tributary::inflate_gzip({data, size}, kSizeMax);
  if (out.ok() && out->size() > kSizeMax) std::abort();
  return 0;
}
