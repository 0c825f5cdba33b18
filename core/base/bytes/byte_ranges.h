// A set of byte offsets, stored as ranges. It records which bytes of a payload have arrived.
//
// Ranges that touch are merged. Not thread-safe. add() and overlap() cost O(log n + k) for n
// ranges, k of which overlap. Memory is proportional to the number of separate ranges.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

namespace tributary {

// The bytes [first, first + count).
struct ByteRange {
  std::uint64_t first = 0;
  std::uint64_t count = 0;

  friend bool operator==(const ByteRange&, const ByteRange&) = default;
};

class ByteRanges {
 public:
  // Adds a range and returns the number of its bytes that were not in the set. `first + count` must
  // not overflow.
  std::uint64_t add(ByteRange range);

  // Returns the parts of the range that are in the set, in ascending order.
  std::vector<ByteRange> overlap(ByteRange range) const;

  // Number of consecutive bytes in the set from offset 0 on.
  std::uint64_t from_start() const;

  // Number of bytes in the set, and number of separate ranges.
  std::uint64_t bytes() const { return bytes_; }
  std::size_t ranges() const { return ends_.size(); }

 private:
  std::map<std::uint64_t, std::uint64_t> ends_;  // end of each range, by its first byte
  std::uint64_t bytes_ = 0;
};

}  // namespace tributary
