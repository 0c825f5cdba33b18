// A set of byte offsets, kept as ranges: which bytes of a payload have arrived.
//
// Ranges that touch are merged. Not thread-safe. add() and overlap() cost O(log n + k) for n
// ranges, k of which overlap.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

namespace tributary {

struct ByteRange {
  std::uint64_t first = 0;
  std::uint64_t count = 0;

  friend bool operator==(const ByteRange&, const ByteRange&) = default;
};

class ByteRanges {
 public:
  // Returns how many bytes of the range were not in the set. `first + count` must not overflow.
  std::uint64_t add(ByteRange range);

  // The parts of the range that are in the set, in order.
  std::vector<ByteRange> overlap(ByteRange range) const;

  // How many bytes follow each other without a gap, from offset 0 on.
  std::uint64_t from_start() const;

  std::uint64_t bytes() const { return bytes_; }
  std::size_t ranges() const { return ends_.size(); }

 private:
  std::map<std::uint64_t, std::uint64_t> ends_;  // of each range, by its first byte
  std::uint64_t bytes_ = 0;
};

}  // namespace tributary
