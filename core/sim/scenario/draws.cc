#include "core/sim/scenario/draws.h"

#include "core/base/random.h"

namespace tributary {

SeededDraws::SeededDraws(std::uint64_t seed, DrawUse use, std::uint64_t index) {
  const auto words =
      philox4x32({static_cast<std::uint32_t>(index), static_cast<std::uint32_t>(index >> 32),
                  static_cast<std::uint32_t>(use), 0},
                 {static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)});
  state_ = std::uint64_t{words[0]} << 32 | words[1];
}

// SplitMix64 (Steele, Lea, Flood: "Fast splittable pseudorandom number generators").
std::uint64_t SeededDraws::bits() {
  std::uint64_t x = state_ += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

double SeededDraws::uniform() { return static_cast<double>(bits() >> 11) * 0x1p-53; }

std::uint64_t SeededDraws::below(std::uint64_t count) { return count == 0 ? 0 : bits() % count; }

std::int64_t SeededDraws::between(std::int64_t low, std::int64_t high) {
  if (high <= low) return low;
  // Unsigned, because the span of two signed numbers may need 64 bits. The span of all of them has
  // 2^64 numbers, which wraps to 0.
  const std::uint64_t first = static_cast<std::uint64_t>(low);
  const std::uint64_t numbers = static_cast<std::uint64_t>(high) - first + 1;
  return static_cast<std::int64_t>(first + (numbers == 0 ? bits() : below(numbers)));
}

}  // namespace tributary
