#include "core/codec/sparse/select.h"

#include <atomic>
#include <bit>
#include <cassert>
#include <cmath>
#include <functional>
#include <numeric>

#include "core/codec/finite.h"
#include "core/codec/sparse/elements.h"
#include "core/codec/sparse/kernels.h"
#include "core/codec/sparse/radix.h"

namespace tributary::sparse {
namespace {

constexpr std::size_t kGuessSamples = 8192;
// Every chunk collects into a slot of its own, so that chunks can run in parallel.
constexpr std::size_t kSlotStride = kChunkValues + kCollectSlack;

std::size_t chunks_of(std::size_t count) { return (count + kChunkValues - 1) / kChunkValues; }

// Returns a magnitude that more than k values reach, except for about one sample in a thousand (3.2
// standard deviations). It is at least the smallest magnitude above zero, so that many zeros do not
// become candidates.
std::uint32_t guessed_threshold(std::span<const float> values, std::uint32_t k) {
  const std::size_t stride = std::max<std::size_t>(values.size() / kGuessSamples, 1);
  const std::size_t samples = (values.size() + stride - 1) / stride;
  const double expected =
      static_cast<double>(k) * static_cast<double>(samples) / static_cast<double>(values.size());
  // 3.2 standard deviations above the expected rank; the constant 3 covers a small k.
  const auto rank = static_cast<std::size_t>(expected + 3.2 * std::sqrt(expected) + 3);
  if (rank >= samples) return 0;
  std::vector<std::uint32_t> sample(samples);
  for (std::size_t i = 0; i < samples; ++i) sample[i] = magnitude_bits(values[i * stride]);
  const auto place = sample.begin() + static_cast<std::ptrdiff_t>(rank);
  std::ranges::nth_element(sample, place, std::greater());
  return std::max(*place, 1u);
}

// Returns the lower edge of the bin that contains the k-th largest value.
std::uint32_t binned_threshold(const Execution& execution, std::span<const float> values,
                               std::uint32_t k) {
  const auto histogram = digit_histogram(execution, values, kDigits[0], 0);
  return bin_of_rank(histogram, k).bin << kDigits[0].shift;
}

// The maximum over chunks; also detects NaN and Inf, whose magnitudes are the largest.
std::uint32_t largest_magnitude(const Execution& execution, std::span<const float> values) {
  std::vector<std::uint32_t> largest(chunks_of(values.size()));
  for_each_chunk(
      execution, values.size(), kChunkValues,
      [&](std::size_t chunk, std::size_t begin, std::size_t end) {
        largest[chunk] =
            kernels(execution.backend).largest_magnitude(values.data() + begin, end - begin);
      });
  return largest.empty() ? 0 : *std::ranges::max_element(largest);
}

std::uint64_t count_at_least(const Execution& execution, std::span<const float> values,
                             std::uint32_t magnitude_min) {
  std::vector<std::uint64_t> counts(chunks_of(values.size()));
  for_each_chunk(execution, values.size(), kChunkValues,
                 [&](std::size_t chunk, std::size_t begin, std::size_t end) {
                   counts[chunk] =
                       kernels(execution.backend)
                           .count_at_least(values.data() + begin, end - begin, magnitude_min);
                 });
  return std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
}

// The magnitudes between which the threshold lies. More than k values reach `low`, or it is 0; at
// most k values reach `high`.
struct Bracket {
  std::uint32_t low;
  std::uint32_t high;
  std::uint64_t reach_high;
};

// Copies the values within the bracket, in two passes like Selector::collect().
FloatVector values_within(const Execution& execution, std::span<const float> values,
                          const Bracket& bracket) {
  FloatVector slots(chunks_of(values.size()) * kSlotStride);
  std::vector<std::size_t> ends(chunks_of(values.size()));
  for_each_chunk(execution, values.size(), kChunkValues,
                 [&](std::size_t chunk, std::size_t begin, std::size_t end) {
                   ends[chunk] = kernels(execution.backend)
                                     .keep_within(values.data() + begin, end - begin, bracket.low,
                                                  bracket.high, slots.data() + chunk * kSlotStride);
                 });
  std::partial_sum(ends.begin(), ends.end(), ends.begin());
  FloatVector within(ends.empty() ? 0 : ends.back());
  for_each_chunk(
      execution, values.size(), kChunkValues, [&](std::size_t chunk, std::size_t, std::size_t) {
        const std::size_t from = chunk == 0 ? 0 : ends[chunk - 1];
        std::copy_n(slots.data() + chunk * kSlotStride, ends[chunk] - from, within.data() + from);
      });
  return within;
}

// Halves the bracket around the threshold. When the bracket contains few of the examined values,
// only those are examined further; all others are known to lie above or below.
Bracket bisect(const Execution& execution, std::span<const float> values, std::uint32_t largest,
               std::uint32_t k, unsigned bisections) {
  Bracket bracket = {.low = 0, .high = largest + 1, .reach_high = 0};
  FloatVector within;
  std::span<const float> looked_at = values;
  std::uint64_t above_all = 0;  // number of values above the examined ones
  std::uint64_t reach_low = values.size();
  float low = 0;
  float high = std::bit_cast<float>(largest);
  for (unsigned i = 0; i < bisections && bracket.reach_high < k; ++i) {
    const float middle = low + (high - low) * 0.5f;
    const std::uint32_t magnitude = magnitude_bits(middle);
    if (magnitude <= bracket.low || magnitude >= bracket.high) break;  // no number in between
    const std::uint64_t reach = above_all + count_at_least(execution, looked_at, magnitude);
    if (reach > k) {
      low = middle;
      bracket.low = magnitude;
      reach_low = reach;
    } else {
      high = middle;
      bracket.high = magnitude;
      bracket.reach_high = reach;
    }
    // A copy is worthwhile only if it removes most of the values from the later passes.
    if (reach_low - bracket.reach_high <= looked_at.size() / 4) {
      within = values_within(execution, looked_at, bracket);
      looked_at = within;
      above_all = bracket.reach_high;
    }
  }
  return bracket;
}

}  // namespace

std::uint32_t kept_of(double ratio, std::size_t values) {
  if (values == 0) return 0;
  const double kept = std::floor(ratio * static_cast<double>(values));
  return static_cast<std::uint32_t>(std::clamp(kept, 1.0, static_cast<double>(values)));
}

Status check_finite(const Execution& execution, std::span<const float> values) {
  if (largest_magnitude(execution, values) < kInfinityBits) return {};
  return not_finite_error(values);
}

Status Selector::collect(const Execution& execution, std::span<const float> values,
                         std::uint32_t magnitude_min) {
  slots_.resize(chunks_of(values.size()) * kSlotStride);
  slot_magnitudes_.resize(slots_.size());
  ends_.assign(chunks_of(values.size()), 0);
  std::atomic<bool> finite = true;
  for_each_chunk(execution, values.size(), kChunkValues,
                 [&](std::size_t chunk, std::size_t begin, std::size_t end) {
                   std::uint32_t* const slot = slots_.data() + chunk * kSlotStride;
                   const Collected got =
                       kernels(execution.backend)
                           .collect(values.data() + begin, end - begin, magnitude_min,
                                    static_cast<std::uint32_t>(begin), slot);
                   // The values are read here because the chunk is still in the cache.
                   std::uint32_t* const magnitudes = slot_magnitudes_.data() + chunk * kSlotStride;
                   for (std::size_t i = 0; i < got.count; ++i) {
                     magnitudes[i] = magnitude_bits(values[slot[i]]);
                   }
                   ends_[chunk] = got.count;
                   if (got.largest >= kInfinityBits) finite = false;
                 });
  if (!finite) return not_finite_error(values);
  std::partial_sum(ends_.begin(), ends_.end(), ends_.begin());
  pack_candidates(execution);
  return {};
}

void Selector::pack_candidates(const Execution& execution) {
  candidates_.resize(ends_.empty() ? 0 : ends_.back());
  magnitudes_.resize(candidates_.size());
  constexpr std::size_t kSlotsAtOnce = 16;  // each slot has few candidates
  for_each_chunk(execution, ends_.size(), kSlotsAtOnce,
                 [&](std::size_t, std::size_t begin, std::size_t end) {
                   for (std::size_t chunk = begin; chunk < end; ++chunk) {
                     const std::size_t from = chunk == 0 ? 0 : ends_[chunk - 1];
                     const std::size_t slot = chunk * kSlotStride;
                     std::copy_n(slots_.begin() + static_cast<std::ptrdiff_t>(slot),
                                 ends_[chunk] - from, candidates_.data() + from);
                     std::copy_n(slot_magnitudes_.begin() + static_cast<std::ptrdiff_t>(slot),
                                 ends_[chunk] - from, magnitudes_.data() + from);
                   }
                 });
}

// Selects from the candidates by a rule, in two passes: the first counts per chunk, so that the
// second can write all chunks in parallel.
void Selector::keep(const Execution& execution, const Rule& rule) {
  struct Share {
    std::size_t high = 0;
    std::size_t fill = 0;
    std::size_t from = 0;
  };
  std::vector<Share> shares(chunks_of(candidates_.size()));
  for_each_chunk(execution, candidates_.size(), kChunkValues,
                 [&](std::size_t chunk, std::size_t begin, std::size_t end) {
                   std::size_t reach_high = 0;
                   std::size_t reach_low = 0;
                   for (std::size_t i = begin; i < end; ++i) {
                     reach_high += magnitudes_[i] >= rule.high_min ? 1u : 0u;
                     reach_low += magnitudes_[i] >= rule.low_min ? 1u : 0u;
                   }
                   shares[chunk] = {.high = reach_high, .fill = reach_low - reach_high};
                 });
  std::size_t fill_left = rule.fill;
  std::size_t total = 0;
  for (Share& share : shares) {
    share.fill = std::min(share.fill, fill_left);
    share.from = total;
    fill_left -= share.fill;
    total += share.high + share.fill;
  }
  selected_.resize(total);
  // Every candidate is written. The next one overwrites it unless it is kept, so no branch can be
  // mispredicted.
  for_each_chunk(execution, candidates_.size(), kChunkValues,
                 [&](std::size_t chunk, std::size_t begin, std::size_t) {
                   const Share& share = shares[chunk];
                   std::uint32_t* out = selected_.data() + share.from;
                   const std::uint32_t* const end = out + share.high + share.fill;
                   std::size_t left = share.fill;
                   for (std::size_t i = begin; out != end; ++i) {
                     const bool high = magnitudes_[i] >= rule.high_min;
                     const bool fills = !high & (magnitudes_[i] >= rule.low_min) & (left > 0);
                     *out = candidates_[i];
                     left -= fills ? 1u : 0u;
                     out += (high | fills) ? 1 : 0;
                   }
                 });
}

Selector::Indices Selector::top(const Execution& execution, std::span<const float> values,
                                std::uint32_t k) {
  if (k >= values.size()) {
    TRIBUTARY_TRY(check_finite(execution, values));
    selected_.resize(values.size());
    std::iota(selected_.begin(), selected_.end(), 0u);
    return std::span<const std::uint32_t>(selected_);
  }
  // The guess affects only the time: too few candidates lead to a second pass with a safe
  // threshold.
  TRIBUTARY_TRY(collect(execution, values, guessed_threshold(values, k)));
  if (candidates_.size() < k) {
    TRIBUTARY_TRY(collect(execution, values, binned_threshold(execution, values, k)));
  }
  const RankedMagnitude last = magnitude_of_rank(execution, magnitudes_, k);
  keep(execution, {.low_min = last.magnitude,
                   .high_min = last.magnitude + 1,
                   .fill = static_cast<std::size_t>(k - last.above)});
  return std::span<const std::uint32_t>(selected_);
}

Selector::Indices Selector::bisected(const Execution& execution, std::span<const float> values,
                                     std::uint32_t k, unsigned bisections) {
  const std::uint32_t largest = largest_magnitude(execution, values);
  if (largest >= kInfinityBits) return not_finite_error(values);
  const Bracket bracket = bisect(execution, values, largest, k, bisections);
  TRIBUTARY_TRY(collect(execution, values, bracket.low));
  keep(execution, {.low_min = bracket.low,
                   .high_min = bracket.high,
                   .fill = static_cast<std::size_t>(k - bracket.reach_high)});
  return std::span<const std::uint32_t>(selected_);
}

Selector::Indices Selector::at_least(const Execution& execution, std::span<const float> values,
                                     std::uint32_t magnitude_min) {
  TRIBUTARY_TRY(collect(execution, values, std::max(magnitude_min, 1u)));
  return std::span<const std::uint32_t>(candidates_);
}

Selector::Indices Selector::at_least_up_to(const Execution& execution,
                                           std::span<const float> values,
                                           std::uint32_t magnitude_min, std::uint32_t k) {
  TRIBUTARY_TRY(collect(execution, values, std::max(magnitude_min, 1u)));
  if (candidates_.size() <= k) return std::span<const std::uint32_t>(candidates_);
  const RankedMagnitude last = magnitude_of_rank(execution, magnitudes_, k);
  keep(execution, {.low_min = last.magnitude,
                   .high_min = last.magnitude + 1,
                   .fill = static_cast<std::size_t>(k - last.above)});
  return std::span<const std::uint32_t>(selected_);
}

std::size_t sample_size(double fraction, std::size_t values) {
  // Fewer samples would make the threshold too noisy.
  constexpr std::size_t kSamplesMin = 1024;
  const auto samples = static_cast<std::size_t>(fraction * static_cast<double>(values));
  return std::min(std::max(samples, kSamplesMin), values);
}

SampledRank sampled_rank(double fraction, std::size_t values, double ratio, StreamKey key) {
  const std::size_t count = sample_size(fraction, values);
  const double rank = count == 0 ? 0.0
                                 : std::clamp(std::ceil(ratio * static_cast<double>(count)), 1.0,
                                              static_cast<double>(count));
  return {.count = static_cast<std::uint32_t>(count),
          .rank = static_cast<std::uint32_t>(rank),
          .key = key};
}

std::uint32_t sampled_magnitude(const Execution& execution, std::span<const float> values,
                                const SampledRank& sample) {
  assert(sample.count <= values.size());
  if (sample.count == 0) return 0;
  RawVector<std::uint32_t> magnitudes(sample.count);
  for_each_chunk(
      execution, sample.count, kChunkValues, [&](std::size_t, std::size_t first, std::size_t last) {
        for (std::size_t part = first; part < last; ++part) {
          magnitudes[part] = magnitude_bits(
              values[sampled_index(sample, values.size(), static_cast<std::uint32_t>(part))]);
        }
      });
  return magnitude_of_rank(execution, std::span<const std::uint32_t>(magnitudes), sample.rank)
      .magnitude;
}

}  // namespace tributary::sparse
