// Order statistics of magnitudes: the magnitude of a given rank, found by histograms over the bits.
//
// All results are exact and the same for every number of threads. The functions are pure. Cost: one
// pass over the values per digit.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "core/codec/chunks.h"
#include "core/codec/codec.h"
#include "core/codec/sparse/elements.h"

namespace tributary::sparse {

// A range of bits. The 31 bits of a magnitude are divided into three digits, from the highest.
struct Digit {
  unsigned shift;
  unsigned bits;
};
constexpr Digit kDigits[] = {{19, 12}, {9, 10}, {0, 9}};

inline std::uint32_t magnitude_of(float x) { return magnitude_bits(x); }
inline std::uint32_t magnitude_of(std::uint32_t magnitude) { return magnitude; }

// Counts how often each value of a digit occurs among magnitudes whose higher bits are `prefix`. T
// is float, or uint32_t for magnitudes.
template <typename T>
std::vector<std::uint32_t> digit_histogram(const Execution& execution, std::span<const T> values,
                                           Digit digit, std::uint32_t prefix) {
  const std::size_t bins = std::size_t{1} << digit.bits;
  const unsigned above = digit.shift + digit.bits;
  const std::size_t chunks = (values.size() + kChunkValues - 1) / kChunkValues;
  // Neighbouring values often fall into the same bin. Two tables avoid that an increment waits for
  // the previous one.
  std::vector<std::uint32_t> tables(chunks * bins);
  for_each_chunk(execution, values.size(), kChunkValues,
                 [&](std::size_t chunk, std::size_t begin, std::size_t end) {
                   std::uint32_t* const even = tables.data() + chunk * bins;
                   std::vector<std::uint32_t> odd(bins);
                   for (std::size_t i = begin; i < end; ++i) {
                     const std::uint32_t magnitude = magnitude_of(values[i]);
                     if (std::uint64_t{magnitude} >> above != prefix) continue;
                     std::uint32_t* const table = i % 2 == 0 ? even : odd.data();
                     ++table[magnitude >> digit.shift & (bins - 1)];
                   }
                   for (std::size_t bin = 0; bin < bins; ++bin) even[bin] += odd[bin];
                 });
  std::vector<std::uint32_t> all(bins);
  for (std::size_t chunk = 0; chunk < chunks; ++chunk) {
    for (std::size_t bin = 0; bin < bins; ++bin) all[bin] += tables[chunk * bins + bin];
  }
  return all;
}

// The bin that contains the value of rank k, counted from the top; rank 1 is the largest value.
struct RankedBin {
  std::uint32_t bin;
  std::uint64_t above;  // number of values in higher bins
};

// Requires 1 <= k <= the sum of the histogram.
inline RankedBin bin_of_rank(std::span<const std::uint32_t> histogram, std::uint64_t k) {
  std::uint64_t above = 0;
  std::size_t bin = histogram.size() - 1;
  while (above + histogram[bin] < k) above += histogram[bin--];
  return {static_cast<std::uint32_t>(bin), above};
}

// The magnitude of rank k.
struct RankedMagnitude {
  std::uint32_t magnitude;  // magnitude of the value of rank k
  std::uint64_t above;      // number of larger values
};

// Below this number, a partial sort is faster than clearing a histogram.
constexpr std::size_t kFewMagnitudes = 512;

inline RankedMagnitude magnitude_of_rank_of_few(std::span<const std::uint32_t> magnitudes,
                                                std::uint64_t k) {
  std::vector<std::uint32_t> ordered(magnitudes.begin(), magnitudes.end());
  const auto place = ordered.begin() + static_cast<std::ptrdiff_t>(k - 1);
  std::ranges::nth_element(ordered, place, std::greater());
  const auto larger = std::count_if(ordered.begin(), place, [&](auto m) { return m > *place; });
  return {.magnitude = *place, .above = static_cast<std::uint64_t>(larger)};
}

// Requires 1 <= k <= magnitudes.size().
inline RankedMagnitude magnitude_of_rank(const Execution& execution,
                                         std::span<const std::uint32_t> magnitudes,
                                         std::uint64_t k) {
  if (magnitudes.size() < kFewMagnitudes) return magnitude_of_rank_of_few(magnitudes, k);
  RankedMagnitude found = {.magnitude = 0, .above = 0};
  for (const Digit digit : kDigits) {
    const auto histogram = digit_histogram(execution, magnitudes, digit, found.magnitude);
    const RankedBin ranked = bin_of_rank(histogram, k - found.above);
    found.magnitude = found.magnitude << digit.bits | ranked.bin;
    found.above += ranked.above;
  }
  return found;
}

}  // namespace tributary::sparse
