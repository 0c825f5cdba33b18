// Selects the values of a bucket to send: exactly the k of largest magnitude, ties to the lower
// index, the same on every device.
//
// Selection usually reads the bucket once. A sample gives a threshold that slightly more than k
// values should reach. One compaction pass collects those values. The exact threshold among them is
// found by a histogram over the upper bits of |x| that is refined twice. If the sample was
// misleading, a histogram of the whole bucket gives a threshold that at least k values reach, and
// the pass is repeated. The sample affects the time, but never the selected values.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/base/random.h"
#include "core/codec/codec.h"
#include "core/codec/sparse/elements.h"
#include "core/codec/sparse/indices/indices.h"

namespace tributary::sparse {

// max(1, floor(ratio · values)) in double arithmetic; 0 if `values` is 0.
std::uint32_t kept_of(double ratio, std::size_t values);

// Returns a not_finite error that names the first NaN or Inf, if the values contain any.
Status check_finite(const Execution& execution, std::span<const float> values);

// Selects values of one bucket. It keeps its buffers from call to call, so use one per encoder and
// thread. The result of a call is valid until the next call. All selections refuse NaN and Inf
// (not_finite).
class Selector {
 public:
  using Indices = Result<std::span<const std::uint32_t>>;

  // Returns the k largest magnitudes; all values if k exceeds their number.
  Indices top(const Execution& execution, std::span<const float> values, std::uint32_t k);

  // Selects by MS-Topk: at most `bisections` halvings of [0, largest magnitude] towards a threshold
  // that k values reach. It takes all values above the bracket, and then values within the bracket
  // by ascending index up to k in total.
  Indices bisected(const Execution& execution, std::span<const float> values, std::uint32_t k,
                   unsigned bisections);

  // Returns all values that are not zero and reach the magnitude.
  Indices at_least(const Execution& execution, std::span<const float> values,
                   std::uint32_t magnitude_min);

  // Does the same, but returns only the k largest if there are more: DGC's hierarchical selection.
  Indices at_least_up_to(const Execution& execution, std::span<const float> values,
                         std::uint32_t magnitude_min, std::uint32_t k);

 private:
  // Keeps magnitudes of at least high_min, and the first `fill` of those from low_min to below
  // high_min.
  struct Rule {
    std::uint32_t low_min;
    std::uint32_t high_min;
    std::size_t fill;
  };

  // Fills candidates_ and magnitudes_ with the values of at least magnitude_min, in ascending order
  // of index.
  Status collect(const Execution& execution, std::span<const float> values,
                 std::uint32_t magnitude_min);
  void pack_candidates(const Execution& execution);
  void keep(const Execution& execution, const Rule& rule);

  // Results of collect() per chunk; ends_[i] is the number of candidates up to the end of chunk i.
  IndexVector slots_;
  RawVector<std::uint32_t> slot_magnitudes_;
  std::vector<std::size_t> ends_;
  IndexVector candidates_;
  RawVector<std::uint32_t> magnitudes_;  // of the candidates
  IndexVector selected_;
};

// The number of values to sample: the given fraction, but at least 1024, because fewer make the
// threshold too noisy, and at most all.
std::size_t sample_size(double fraction, std::size_t values);

// The sample of sample_size(fraction, values), and the rank that the fraction `ratio` of it
// reaches.
SampledRank sampled_rank(double fraction, std::size_t values, double ratio, StreamKey key);

// Returns the magnitude of the rank; 0 if the sample is empty. Requires count <= values.size().
std::uint32_t sampled_magnitude(const Execution& execution, std::span<const float> values,
                                const SampledRank& sample);

}  // namespace tributary::sparse
