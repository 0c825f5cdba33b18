// Fuzzes joined payloads: splitting and joining again gives the same bytes.
#include <algorithm>
#include <cstdlib>

#include "core/collective/side_by_side.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using tributary::ByteSpan;
  const ByteSpan bytes(data, size);
  const std::uint32_t expected = size > 0 ? data[0] : 0;
  const auto parts = tributary::split_payloads(bytes, expected);
  if (!parts.ok()) return 0;
  const tributary::Bytes again = tributary::join_payloads(*parts);
  if (again.size() != size) std::abort();
  const auto back = tributary::split_payloads(again, expected);
  if (!back.ok()) std::abort();
  for (std::size_t i = 0; i < parts->size(); ++i) {
    if (!std::ranges::equal((*parts)[i], (*back)[i])) std::abort();
  }
  return 0;
}
