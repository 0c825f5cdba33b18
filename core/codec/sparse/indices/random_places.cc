#include "core/codec/sparse/indices/random_places.h"

#include <cassert>

namespace tributary::sparse {

// Sequential on purpose: whether a draw is used depends on the draws before it.
void draw_places(const Execution& execution, StreamKey key, std::size_t values, std::uint32_t k,
                 IndexVector& places) {
  assert(k <= values);
  const auto n = static_cast<std::uint32_t>(values);
  const bool invert = k > n / 2;
  RawVector<std::uint64_t> taken((values + 63) / 64, 0);
  const std::uint32_t unfair = n == 0 ? 0 : static_cast<std::uint32_t>(-n) % n;  // 2^32 mod n
  std::uint32_t draw = 0;
  for (std::uint32_t left = invert ? n - k : k; left > 0;) {
    const std::uint64_t product = std::uint64_t{random_bits(key, draw++)} * n;
    if (static_cast<std::uint32_t>(product) < unfair) continue;
    const auto place = static_cast<std::uint32_t>(product >> 32);
    const std::uint64_t bit = std::uint64_t{1} << (place % 64);
    if ((taken[place / 64] & bit) != 0) continue;
    taken[place / 64] |= bit;
    --left;
  }
  if (invert) {
    for (std::uint64_t& word : taken) word = ~word;
    if (n % 64 != 0) taken.back() &= (std::uint64_t{1} << (n % 64)) - 1;
  }
  places_of(execution, taken, places);
}

}  // namespace tributary::sparse
