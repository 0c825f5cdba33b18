#include "core/run/series/series.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>

namespace tributary::dashboard {

// Adds one sample. If several values are equal, the first one is kept.
void Series::Summary::take(double y, std::uint64_t number) {
  if (std::isnan(y)) {
    if (first_gap_at == kNone) first_gap_at = number;
    last_gap_at = number;
    return;
  }
  if (low_at == kNone || y < low) {
    low = y;
    low_at = number;
  }
  if (high_at == kNone || y > high) {
    high = y;
    high_at = number;
  }
}

// Adds a block whose first sample has the number `begin`.
void Series::Summary::take(const Block& block, std::uint64_t begin) {
  if (block.first_gap_at != kNowhere) {
    if (first_gap_at == kNone) first_gap_at = begin + block.first_gap_at;
    last_gap_at = begin + block.last_gap_at;
  }
  if (block.low_at == kNowhere) return;  // only gaps
  if (low_at == kNone || block.low < low) {
    low = block.low;
    low_at = begin + block.low_at;
  }
  if (high_at == kNone || block.high > high) {
    high = block.high;
    high_at = begin + block.high_at;
  }
}

Series::Block Series::Summary::block(std::uint64_t begin) const {
  const auto place = [begin](std::uint64_t number) {
    return number == kNone ? kNowhere : static_cast<std::uint32_t>(number - begin);
  };
  return {.low = low,
          .high = high,
          .low_at = place(low_at),
          .high_at = place(high_at),
          .first_gap_at = place(first_gap_at),
          .last_gap_at = place(last_gap_at)};
}

Series::Series(std::size_t samples_max)
    : samples_max_(std::clamp<std::size_t>(samples_max, 1, kSamplesMax)) {
  // The number of complete blocks never exceeds this size. It is a power of two, so a position is
  // found without a division.
  for (std::uint64_t bits = kFactorBits; samples_max_ >> bits > 0; bits += kFactorBits) {
    levels_.push_back({.mask = std::bit_ceil((samples_max_ >> bits) + 1) - 1});
  }
}

// Maps a sample number to its position in the ring.
const Sample& Series::sample(std::uint64_t number) const {
  std::size_t place = place_of_first_ + static_cast<std::size_t>(number - first_);
  if (place >= samples_max_) place -= samples_max_;
  return chunks_[place >> kChunkBits][place % kChunk];
}

// Overwrites the oldest sample if the ring is full, and otherwise appends.
void Series::keep(const Sample& added) {
  if (size() == samples_max_) {
    chunks_[place_of_first_ >> kChunkBits][place_of_first_ % kChunk] = added;
    ++first_;
    place_of_first_ = place_of_first_ + 1 == samples_max_ ? 0 : place_of_first_ + 1;
    return;
  }
  if (size() % kChunk == 0) {
    chunks_.emplace_back();
    if (chunks_.size() > 1)
      chunks_.back().reserve(kChunk);  // the first chunk grows as needed: most curves are short
  }
  chunks_.back().push_back(added);
}

bool Series::append(Sample added) {
  if (!std::isfinite(added.x)) return false;
  if (!empty() && added.x < sample(end_ - 1).x) return false;
  if (std::isinf(added.y)) added.y = std::numeric_limits<double>::quiet_NaN();
  keep(added);
  ++end_;
  ++revision_;
  finish_blocks();
  return true;
}

// Computes the blocks that end with the newest sample, from the lowest level up. A level whose
// block is incomplete ends the loop, as all higher levels are incomplete, too.
void Series::finish_blocks() {
  for (std::size_t i = 0; i < levels_.size(); ++i) {
    const std::uint64_t bits = kFactorBits * (i + 1);
    const std::uint64_t size = std::uint64_t{1} << bits;
    if (end_ % size != 0) return;
    const std::uint64_t begin = end_ - size;
    Summary all;
    if (i == 0) {
      for (std::uint64_t number = begin; number < end_; ++number) {
        all.take(sample(number).y, number);
      }
    } else {
      const Level& below = levels_[i - 1];
      const std::uint64_t step = size >> kFactorBits;
      for (std::uint64_t number = begin; number < end_; number += step) {
        all.take(below.blocks[(number / step) & below.mask], number);
      }
    }
    Level& level = levels_[i];
    const std::uint64_t place = (begin >> bits) & level.mask;
    if (place >= level.blocks.size()) level.blocks.resize(place + 1);
    level.blocks[place] = all.block(begin);
  }
}

void Series::clear() {
  chunks_ = {};
  for (Level& level : levels_) level.blocks = {};
  first_ = end_ = 0;
  place_of_first_ = 0;
  ++revision_;
}

// Uses the largest blocks that fit, from the left: their sizes first increase and then decrease.
Series::Summary Series::summary(std::uint64_t begin, std::uint64_t end) const {
  Summary all;
  std::uint64_t number = begin;
  std::size_t level = 0;  // 0: single samples
  while (number < end) {
    while (level < levels_.size()) {
      const std::uint64_t size = std::uint64_t{1} << (kFactorBits * (level + 1));
      if (number % size != 0 || number + size > end) break;
      ++level;
    }
    while (level > 0 && number + (std::uint64_t{1} << (kFactorBits * level)) > end) --level;
    if (level == 0) {
      all.take(sample(number).y, number);
      ++number;
      continue;
    }
    const std::uint64_t bits = kFactorBits * level;
    const Level& blocks = levels_[level - 1];
    all.take(blocks.blocks[(number >> bits) & blocks.mask], number);
    number += std::uint64_t{1} << bits;
  }
  return all;
}

// Exponential search: columns are requested in order, so the result is usually near.
std::uint64_t Series::first_not_below(double x, std::uint64_t begin) const {
  std::uint64_t low = begin;
  std::uint64_t step = 1;
  while (low + step <= end_ && sample(low + step - 1).x < x) {
    low += step;
    step *= 2;
  }
  std::uint64_t high = std::min(low + step, end_);
  while (low < high) {
    const std::uint64_t middle = low + (high - low) / 2;
    if (sample(middle).x < x) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

std::uint64_t Series::first_above(double x) const {
  return first_not_below(std::nextafter(x, std::numeric_limits<double>::infinity()), first_);
}

std::optional<Extent> Series::x_extent() const {
  if (empty()) return std::nullopt;
  return Extent{sample(first_).x, sample(end_ - 1).x};
}

std::optional<Extent> Series::y_extent(double x_low, double x_high) const {
  if (!(x_low <= x_high)) return std::nullopt;
  const std::uint64_t begin = first_not_below(x_low, first_);
  const std::uint64_t end = first_above(x_high);
  if (begin >= end) return std::nullopt;
  const Summary all = summary(begin, end);
  if (all.low_at == kNone) return std::nullopt;
  return Extent{all.low, all.high};
}

std::optional<Sample> Series::last() const {
  if (empty()) return std::nullopt;
  return sample(end_ - 1);
}

// Samples are in ascending order of x, so only the two neighbours of x can be nearest.
std::optional<Sample> Series::nearest(double x) const {
  if (empty() || std::isnan(x)) return std::nullopt;
  const std::uint64_t after = first_not_below(x, first_);
  if (after == first_) return sample(first_);
  if (after == end_) return sample(end_ - 1);
  const Sample& left = sample(after - 1);
  const Sample& right = sample(after);
  return x - left.x <= right.x - x ? left : right;
}

Sample Series::at(std::size_t index) const { return sample(first_ + index); }

void Series::draw(std::span<const double> borders, std::vector<Sample>& out) const {
  out.clear();
  if (empty() || borders.size() < 2) return;
  std::uint64_t begin = first_not_below(borders.front(), first_);
  if (begin > first_) out.push_back(sample(begin - 1));
  // Each search begins where the last one ended, so a whole picture costs the logarithm of a
  // column's samples for each column.
  for (const double border : borders.subspan(1)) {
    const std::uint64_t end = first_not_below(border, begin);
    draw_column(begin, end, out);
    begin = end;
  }
  if (begin < end_) out.push_back(sample(begin));
}

// Up to six samples are drawn as they are; more are represented by six.
void Series::draw_column(std::uint64_t begin, std::uint64_t end, std::vector<Sample>& out) const {
  constexpr std::uint64_t kAllOf = 6;
  if (end - begin <= kAllOf) {
    for (std::uint64_t number = begin; number < end; ++number) out.push_back(sample(number));
    return;
  }
  const Summary all = summary(begin, end);
  std::array<std::uint64_t, kAllOf> numbers = {
      begin, all.low_at, all.high_at, all.first_gap_at, all.last_gap_at, end - 1};
  std::ranges::sort(numbers);  // missing ones sort last
  std::uint64_t before = kNone;
  for (const std::uint64_t number : numbers) {
    if (number != kNone && number != before) out.push_back(sample(number));
    before = number;
  }
}

}  // namespace tributary::dashboard
