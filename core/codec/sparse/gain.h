// The compression gain ||C(g)||² / ||g||² of top-k for all ratios, from one histogram of
// magnitudes. The planner uses it to compare ratios without trying them.
//
// A bin is identified by the upper 12 bits of |x| (an exponent and 4 bits of mantissa) and has a
// count and an energy. At the edge of a bin the gain is exact. Within a bin it lies between two
// bounds. The largest values of a bin have at least its average energy. They have at most the
// energy that its upper edge allows, or that the remaining values leave if those are at its lower
// edge.
//
// Squares are exact in double. They are added in order within chunks of 65,536 values and then
// chunk by chunk, so every number of threads produces the same curve. Selection by layer or by a
// sampled threshold gains a little less. A curve is immutable after construction and costs one pass
// over the values.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/codec/codec.h"

namespace tributary::sparse {

// The ratios at which agents report their gain.
inline constexpr double kGainRatios[] = {0.0003, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3};

class GainCurve {
 public:
  // Requires finite values; the selection that precedes it has checked them.
  GainCurve(const Execution& execution, std::span<const float> values);

  // Bounds of a gain; 1 means that nothing is lost.
  struct Bounds {
    double low = 1;
    double high = 1;
  };
  // Bounds of the gain of the k largest values; 1 if all values are zero.
  Bounds at(std::uint64_t k) const;
  // Bounds for the k that a codec of this ratio keeps.
  Bounds at_ratio(double ratio) const;

  // ||g||², and the number of values.
  double energy() const { return total_energy_; }
  std::uint64_t values() const { return total_count_; }
  // The numbers of values at which the gain is exact, in ascending order from 0 to values().
  std::vector<std::uint64_t> exact_at() const;

 private:
  // A bin in descending order of magnitude, with the totals of all larger bins.
  struct Bin {
    std::uint64_t count = 0;
    double energy = 0;
    std::uint64_t count_above = 0;
    double energy_above = 0;
    double smallest = 0;  // squares of its lower and upper edge
    double largest = 0;
  };
  std::vector<Bin> bins_;  // without empty bins
  std::uint64_t total_count_ = 0;
  double total_energy_ = 0;
};

}  // namespace tributary::sparse
