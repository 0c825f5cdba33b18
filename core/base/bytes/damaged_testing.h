// Damaged copies of a byte string, for tests of code that reads bytes of others: with each bit
// flipped, and cut at each length.
//
// Under a sanitizer such a test takes several times as long. There it leaves out six of seven
// copies beyond the first 64 bytes, which hold what readers decide by; the preset dev makes all of
// them. Seven has no factor in common with eight, so bits of every place in a byte are flipped.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/base/bytes/bytes.h"
#include "core/base/sanitized_testing.h"

namespace tributary {

inline constexpr std::size_t kDamageStride = kSanitized ? 7 : 1;

inline constexpr std::size_t kFullyDamagedBytes = 64;

// Calls use(Bytes) with a copy of `whole` for each of its bits.
template <class Use>
void for_each_flipped_bit(ByteSpan whole, const Use& use) {
  for (std::size_t bit = 0; bit < whole.size() * 8;
       bit += bit < kFullyDamagedBytes * 8 ? 1 : kDamageStride) {
    Bytes flipped(whole.begin(), whole.end());
    flipped[bit / 8] = static_cast<std::uint8_t>(flipped[bit / 8] ^ (1u << (bit % 8)));
    use(flipped);
  }
}

// Calls use(Bytes) with the first 0, 1, 2, ... bytes of `whole`, never with all of them.
template <class Use>
void for_each_cut(ByteSpan whole, const Use& use) {
  for (std::size_t size = 0; size < whole.size();
       size += size < kFullyDamagedBytes ? 1 : kDamageStride) {
    use(Bytes(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size)));
  }
}

}  // namespace tributary
