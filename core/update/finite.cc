#include "core/update/finite.h"

#include <algorithm>
#include <bit>

namespace tributary {
namespace {

constexpr std::uint32_t kExponentMask = 0x7f800000;

bool is_finite(float value) {
  return (std::bit_cast<std::uint32_t>(value) & kExponentMask) != kExponentMask;
}

}  // namespace

std::optional<std::uint64_t> first_not_finite(std::span<const float> values) {
  // A block has no early exit, so the compiler vectorizes its loop.
  constexpr std::size_t kBlock = 1024;
  for (std::size_t start = 0; start < values.size(); start += kBlock) {
    const auto block = values.subspan(start, std::min(kBlock, values.size() - start));
    unsigned bad = 0;
    for (float value : block) bad |= is_finite(value) ? 0u : 1u;
    if (bad == 0) continue;
    const auto first = std::ranges::find_if_not(block, is_finite);
    return start + static_cast<std::size_t>(first - block.begin());
  }
  return std::nullopt;
}

}  // namespace tributary
