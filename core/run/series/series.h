// One curve's samples, bounded, with what is needed to draw any stretch of it at the cost of the
// pixels and not of the samples.
//
// A ring of samples, and over it a pyramid: of every 16 samples, of every 16 of those, and so on,
// the lowest, the highest and the gaps. A block is made once, when its last sample comes, so that
// appending costs 17/16 samples in the mean. Memory: 16 bytes for a sample and 2 to 4 for the
// pyramid; none before there are samples.
//
// Threads: one at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/run/units/extent.h"

namespace tributary::dashboard {

struct Sample {
  double x = 0;
  double y = 0;  // NaN: a gap
};

class Series {
 public:
  static constexpr std::size_t kSamplesMax = std::size_t{1} << 31;

  // A ring: the oldest go. At least one sample is kept, and at most kSamplesMax.
  explicit Series(std::size_t samples_max);

  // False: refused, for x is not finite or before the last one. Infinite y is a gap.
  bool append(Sample sample);
  void clear();

  std::size_t size() const { return static_cast<std::size_t>(end_ - first_); }
  bool empty() const { return end_ == first_; }
  std::size_t samples_max() const { return samples_max_; }
  std::uint64_t revision() const { return revision_; }  // grows with every change

  std::optional<Extent> x_extent() const;
  // Of what is not a gap, both borders included.
  std::optional<Extent> y_extent(double x_low, double x_high) const;
  std::optional<Sample> last() const;
  // By x; a gap is found as well. Of two that are as near, the earlier one.
  std::optional<Sample> nearest(double x) const;
  Sample at(std::size_t index) const;  // 0: the oldest

  // What draws the same picture as all samples would between these borders of pixel columns
  // (ascending, one more than there are columns; a border belongs to the column on its right): of
  // each column the first, lowest, highest and last one and its first and last gap, in the order of
  // x; and the nearest samples outside, on both sides. Replaces what was in `out`.
  void draw(std::span<const double> borders, std::vector<Sample>& out) const;

 private:
  static constexpr std::uint64_t kFactorBits = 4;
  static constexpr std::uint64_t kFactor = std::uint64_t{1} << kFactorBits;
  static constexpr std::size_t kChunkBits = 8;
  static constexpr std::size_t kChunk = std::size_t{1} << kChunkBits;
  static constexpr std::uint32_t kNowhere = 0xffffffffu;

  // Places are counted from the block's first sample.
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
    std::uint64_t mask = 0;  // places of the ring, less one
  };
  // Of any stretch, by the number of the sample: what Block is of its own.
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
  // The first one from `begin` on whose x is not below this one; `end_`, if there is none.
  std::uint64_t first_not_below(double x, std::uint64_t begin) const;
  std::uint64_t first_above(double x) const;
  void draw_column(std::uint64_t begin, std::uint64_t end, std::vector<Sample>& out) const;

  std::size_t samples_max_;
  // Chunks, so that a curve that grows is never copied: hundreds of them grow in step, and whoever
  // appends is the one who draws.
  std::vector<std::vector<Sample>> chunks_;
  std::vector<Level> levels_;  // the first: blocks of 16 samples
  // Samples are numbered in the order in which they came; those from first_ to end_ are here.
  std::uint64_t first_ = 0;
  std::uint64_t end_ = 0;
  std::size_t place_of_first_ = 0;
  std::uint64_t revision_ = 0;
};

}  // namespace tributary::dashboard
