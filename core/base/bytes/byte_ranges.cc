#include "core/base/bytes/byte_ranges.h"

#include <algorithm>
#include <iterator>

namespace tributary {

std::uint64_t ByteRanges::add(ByteRange range) {
  if (range.count == 0) return 0;
  std::uint64_t first = range.first;
  std::uint64_t end = range.first + range.count;
  std::uint64_t known = 0;
  auto at = ends_.upper_bound(first);
  if (at != ends_.begin() && std::prev(at)->second >= first) --at;
  while (at != ends_.end() && at->first <= end) {
    known += at->second - at->first;
    first = std::min(first, at->first);
    end = std::max(end, at->second);
    at = ends_.erase(at);
  }
  ends_.emplace_hint(at, first, end);
  const std::uint64_t added = end - first - known;
  bytes_ += added;
  return added;
}

std::vector<ByteRange> ByteRanges::overlap(ByteRange range) const {
  std::vector<ByteRange> found;
  if (range.count == 0) return found;
  const std::uint64_t end = range.first + range.count;
  auto at = ends_.upper_bound(range.first);
  if (at != ends_.begin() && std::prev(at)->second > range.first) --at;
  for (; at != ends_.end() && at->first < end; ++at) {
    const std::uint64_t from = std::max(at->first, range.first);
    found.push_back({from, std::min(at->second, end) - from});
  }
  return found;
}

std::uint64_t ByteRanges::from_start() const {
  const bool begun = !ends_.empty() && ends_.begin()->first == 0;
  return begun ? ends_.begin()->second : 0;
}

}  // namespace tributary
