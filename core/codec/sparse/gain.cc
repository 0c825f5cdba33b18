#include "core/codec/sparse/gain.h"

#include <algorithm>
#include <bit>

#include "core/codec/chunks.h"
#include "core/codec/sparse/radix.h"
#include "core/codec/sparse/select.h"

namespace tributary::sparse {
namespace {

// The bins are the first digit of the radix selection.
constexpr Digit kDigit = kDigits[0];
constexpr std::size_t kBins = std::size_t{1} << kDigit.bits;

// Counts and energies of one chunk, by bin.
struct Tally {
  std::vector<std::uint64_t> counts = std::vector<std::uint64_t>(kBins);
  std::vector<double> energies = std::vector<double>(kBins);
};

void tally(std::span<const float> values, Tally& into) {
  for (const float value : values) {
    const std::size_t bin = magnitude_bits(value) >> kDigit.shift;
    const auto x = static_cast<double>(value);
    ++into.counts[bin];
    into.energies[bin] += x * x;
  }
}

double square_at(std::uint32_t magnitude) {
  const auto x = static_cast<double>(std::bit_cast<float>(magnitude));
  return x * x;
}

}  // namespace

GainCurve::GainCurve(const Execution& execution, std::span<const float> values)
    : total_count_(values.size()) {
  std::vector<Tally> chunks((values.size() + kChunkValues - 1) / kChunkValues);
  for_each_chunk(execution, values.size(), kChunkValues,
                 [&](std::size_t chunk, std::size_t begin, std::size_t end) {
                   tally(values.subspan(begin, end - begin), chunks[chunk]);
                 });
  // From the largest magnitudes down; empty bins are skipped.
  Bin above;
  for (std::size_t i = kBins; i-- > 0;) {
    Bin bin = {.count_above = above.count_above + above.count,
               .energy_above = above.energy_above + above.energy};
    for (const Tally& chunk : chunks) {
      bin.count += chunk.counts[i];
      bin.energy += chunk.energies[i];
    }
    if (bin.count == 0) continue;
    const auto lowest = static_cast<std::uint32_t>(i) << kDigit.shift;
    bin.smallest = square_at(lowest);
    bin.largest = square_at(lowest | ((1u << kDigit.shift) - 1));
    bins_.push_back(bin);
    above = bin;
  }
  total_energy_ = above.energy_above + above.energy;
}

GainCurve::Bounds GainCurve::at(std::uint64_t k) const {
  k = std::min(k, total_count_);
  if (!(total_energy_ > 0)) return {};
  if (k == 0) return {0, 0};
  const auto bin =
      std::ranges::lower_bound(bins_, k, {}, [](const Bin& b) { return b.count_above + b.count; });
  const auto taken = static_cast<double>(k - bin->count_above);
  const auto left = static_cast<double>(bin->count) - taken;
  // The largest values of a bin have at least its average energy.
  const double average = taken * (bin->energy / static_cast<double>(bin->count));
  const double most = std::min(taken * bin->largest, bin->energy - left * bin->smallest);
  const double low = left > 0 ? average : bin->energy;
  const double high = left > 0 ? std::max(most, average) : bin->energy;
  return {(bin->energy_above + low) / total_energy_, (bin->energy_above + high) / total_energy_};
}

GainCurve::Bounds GainCurve::at_ratio(double ratio) const { return at(kept_of(ratio, values())); }

std::vector<std::uint64_t> GainCurve::exact_at() const {
  std::vector<std::uint64_t> counts = {0};
  for (const Bin& bin : bins_) counts.push_back(bin.count_above + bin.count);
  return counts;
}

}  // namespace tributary::sparse
