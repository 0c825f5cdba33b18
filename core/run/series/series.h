// The samples of one curve, bounded, with an index for drawing any range of it. Drawing costs time
// in proportion to the pixels, not to the samples.
//
// The samples are a ring. Above it is a pyramid of blocks: for every 16 samples, every 16 of these
// blocks, and so on, the minimum, the maximum and the gaps. A block is computed once, when its last
// sample arrives, so appending a sample costs 17/16 visits on average. Memory is 16 bytes per
// sample and 2 to 4 for the pyramid; an empty series uses none.
//
// Used by one thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/run/units/extent.h"

namespace tributary::dashboard {

// One point of a curve.
struct Sample {
  double x = 0;
  double y = 0;  // NaN: a gap
};

class Series {
 public:
  static constexpr std::size_t kSamplesMax = std::size_t{1} << 31;

  // A ring that drops its oldest samples. samples_max is limited to 1 .. kSamplesMax.
  explicit Series(std::size_t samples_max);

  // Returns false, without effect, if x is not finite or smaller than the last x. An infinite y
  // becomes a gap.
  bool append(Sample sample);
  void clear();

  std::size_t size() const { return static_cast<std::size_t>(end_ - first_); }
  bool empty() const { return end_ == first_; }
  std::size_t samples_max() const { return samples_max_; }
  std::uint64_t revision() const { return revision_; }  // increases with every change

  std::optional<Extent> x_extent() const;
  // Range of the values that are no gaps, both ends of x included; empty if there is none.
  std::optional<Extent> y_extent(double x_low, double x_high) const;
  std::optional<Sample> last() const;
  // Returns the sample with the nearest x, gaps included. If two are equally near, returns the
  // earlier one.
  std::optional<Sample> nearest(double x) const;
  Sample at(std::size_t index) const;  // 0 is the oldest sample

  // Writes samples to `out` that give the same picture as all samples would. `borders` are the
  // borders of the pixel columns in ascending order, one more than the columns; a border belongs to
  // the column on its right. Per column these are the first, lowest, highest and last sample and
  // the first and last gap, in the order of x. The nearest samples on both sides of the range are
  // added.
  void draw(std::span<const double> borders, std::vector<Sample>& out) const;

 private:
  static constexpr std::uint64_t kFactorBits = 4;
  static constexpr std::uint64_t kFactor = std::uint64_t{1} << kFactorBits;
  static constexpr std::size_t kChunkBits = 8;
  static constexpr std::size_t kChunk = std::size_t{1} << kChunkBits;
  static constexpr std::uint32_t kNowhere = 0xffffffffu;

  // Positions are relative to the block's first sample.
  struct Block {
    double low = 0;
    double high = 0;
    std::uint32_t low_at = kNowhere;
    std::uint32_t high_at = kNowhere;
    std::uint32_t first_gap_at = kNowhere;
    std::uint32_t last_gap_at = kNowhere;
  };
  struct Level {
    std::vector<Block> blocks = {};
    std::uint64_t mask = 0;  // size of the ring of blocks, minus 1
  };
  // The contents of a Block for any range, with absolute sample numbers.
  struct Summary {
    double low = 0;
    double high = 0;
    std::uint64_t low_at = kNone;
    std::uint64_t high_at = kNone;
    std::uint64_t first_gap_at = kNone;
    std::uint64_t last_gap_at = kNone;

    void take(double y, std::uint64_t number);
    void take(const Block& block, std::uint64_t begin);
    Block block(std::uint64_t begin) const;
  };
  static constexpr std::uint64_t kNone = ~std::uint64_t{0};

  const Sample& sample(std::uint64_t number) const;
  void keep(const Sample& added);
  void finish_blocks();
  Summary summary(std::uint64_t begin, std::uint64_t end) const;
  // The first sample from `begin` on with x not below this value; `end_` if there is none.
  std::uint64_t first_not_below(double x, std::uint64_t begin) const;
  std::uint64_t first_above(double x) const;
  void draw_column(std::uint64_t begin, std::uint64_t end, std::vector<Sample>& out) const;

  std::size_t samples_max_;
  // Samples are in chunks, so a growing curve is never copied. Hundreds of curves grow at the same
  // time, and the thread that appends is the one that draws.
  std::vector<std::vector<Sample>> chunks_;
  std::vector<Level> levels_;  // the first level has blocks of 16 samples
  // Samples are numbered in the order of arrival; the series contains those from first_ to end_.
  std::uint64_t first_ = 0;
  std::uint64_t end_ = 0;
  std::size_t place_of_first_ = 0;
  std::uint64_t revision_ = 0;
};

}  // namespace tributary::dashboard
