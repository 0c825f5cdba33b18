// The compression gain ||C(g)||² / ||g||² of top-k for every ratio at once, from one histogram of
// magnitudes: what a controller needs to judge candidate ratios without trying them.
//
// Bins are the high 12 bits of |x| (an exponent and 4 bits of mantissa), each with its count and
// its energy. At the edge of a bin the gain is exact; within a bin it lies between bounds: the
// largest values of a bin carry at least its average energy, and at most what its upper edge, or
// the rest of the bin at its lower edge, leaves them.
//
// Squares are exact in double; they are added in order within chunks of 64 Ki values and chunk
// after chunk, so that every thread count gives the same curve. Selection by layer, or by a sampled
// threshold, gains a little less.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/codec/codec.h"

namespace tributary::sparse {

// The shares at which agents tell of their gain.
inline constexpr double kGainRatios[] = {0.0003, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3};

class GainCurve {
 public:
  // Values are finite: who selects from them has checked that.
  GainCurve(const Execution& execution, std::span<const float> values);

  struct Bounds {
    double low = 1;
    double high = 1;
  };
  // Of the k largest; 1 where there is no energy to lose.
  Bounds at(std::uint64_t k) const;
  // Of the k that a codec of this ratio keeps.
  Bounds at_ratio(double ratio) const;

  double energy() const { return total_energy_; }
  std::uint64_t values() const { return total_count_; }
  // The numbers of values at which the gain is exact, ascending: 0, … , values().
  std::vector<std::uint64_t> exact_at() const;

 private:
  // From the largest magnitudes down.
  struct Bin {
    std::uint64_t count = 0;
    double energy = 0;
    std::uint64_t count_above = 0;
    double energy_above = 0;
    double smallest = 0;  // squares at its edges
    double largest = 0;
  };
  std::vector<Bin> bins_;  // those that are not empty
  std::uint64_t total_count_ = 0;
  double total_energy_ = 0;
};

}  // namespace tributary::sparse
