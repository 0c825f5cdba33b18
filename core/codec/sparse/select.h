// Which values of a bucket are sent: the k of largest magnitude, ties by the lower index, exactly
// k, the same on every device.
//
// Selection reads the bucket once. A sample of it gives a threshold that a little more than k
// values are expected to reach; one compaction pass collects those; the exact threshold is found
// among them by a histogram on the high bits of |x|, refined twice. Should the sample have misled,
// a histogram of the whole bucket gives a threshold that at least k values reach, and the pass is
// made again: the sample decides how long it takes and never what is selected.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/base/random.h"
#include "core/codec/codec.h"
#include "core/codec/sparse/indices/indices.h"

namespace tributary::sparse {

// max(1, floor(ratio · values)) in double arithmetic; 0 of no values.
std::uint32_t kept_of(double ratio, std::size_t values);

// NaN and Inf as the error that names the first.
Status check_finite(const Execution& execution, std::span<const float> values);

// Keeps its memory from call to call; what a call returns is valid until the next one.
class Selector {
 public:
  using Indices = Result<std::span<const std::uint32_t>>;

  // The k largest magnitudes, exactly.
  Indices top(const Execution& execution, std::span<const float> values, std::uint32_t k);

  // MS-Topk: at most `bisections` halvings of [0, largest magnitude] towards a threshold that k
  // values reach. What lies above the bracket is sent, and of what lies within it as many of the
  // lowest indices as make k.
  Indices bisected(const Execution& execution, std::span<const float> values, std::uint32_t k,
                   unsigned bisections);

  // All values that are not zero and reach the magnitude.
  Indices at_least(const Execution& execution, std::span<const float> values,
                   std::uint32_t magnitude_min);

  // The same, but if they are more than k, the k largest of them: DGC's hierarchical selection.
  Indices at_least_up_to(const Execution& execution, std::span<const float> values,
                         std::uint32_t magnitude_min, std::uint32_t k);

 private:
  // Those of magnitude high_min or more, and the first `fill` of those from low_min on.
  struct Rule {
    std::uint32_t low_min;
    std::uint32_t high_min;
    std::size_t fill;
  };

  Status collect(const Execution& execution, std::span<const float> values,
                 std::uint32_t magnitude_min);
  void pack_candidates(const Execution& execution);
  void keep(const Execution& execution, const Rule& rule);

  // What collect() finds, a part for each chunk; ends_ counts up to the end of each.
  IndexVector slots_;
  RawVector<std::uint32_t> slot_magnitudes_;
  std::vector<std::size_t> ends_;
  IndexVector candidates_;
  RawVector<std::uint32_t> magnitudes_;  // of the candidates
  IndexVector selected_;
};

// How many values to sample of a bucket: the fraction, but no fewer than the noise of a threshold
// bears.
std::size_t sample_size(double fraction, std::size_t values);

// The magnitude that the `ratio` largest of a sample reach. The sample has one value of each of
// `samples` equal parts of the bucket, drawn from the stream.
std::uint32_t sampled_threshold(const Execution& execution, std::span<const float> values,
                                double ratio, std::size_t samples, StreamKey key);

}  // namespace tributary::sparse
