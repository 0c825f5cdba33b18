#include "core/store/database/vectors/file_extents.h"

#include <algorithm>
#include <iterator>

namespace tributary {
namespace {

constexpr std::uint64_t aligned(std::uint64_t bytes) {
  return (bytes + FileExtents::kAlignment - 1) / FileExtents::kAlignment * FileExtents::kAlignment;
}

}  // namespace

std::optional<FileExtents> FileExtents::around(std::vector<FileExtent> used) {
  std::ranges::sort(used, {}, &FileExtent::begins_at);
  FileExtents extents;
  for (const FileExtent& extent : used) {
    if (extent.begins_at % kAlignment != 0 || extent.begins_at < extents.end_) return std::nullopt;
    if (extent.begins_at > kEndMax || extent.bytes > kEndMax - extent.begins_at) {
      return std::nullopt;
    }
    if (extent.begins_at > extents.end_) {
      extents.gaps_[extents.end_] = extent.begins_at - extents.end_;
    }
    extents.end_ = extent.begins_at + aligned(extent.bytes);
  }
  return extents;
}

FileExtent FileExtents::take(std::uint64_t bytes) {
  const std::uint64_t length = aligned(bytes);
  const auto gap = std::ranges::find_if(gaps_, [&](const auto& each) {  //
    return each.second >= length;
  });
  if (gap == gaps_.end()) {
    const FileExtent extent{.begins_at = end_, .bytes = bytes};
    end_ += length;
    return extent;
  }
  const FileExtent extent{.begins_at = gap->first, .bytes = bytes};
  const std::uint64_t left = gap->second - length;
  gaps_.erase(gap);
  if (left > 0) gaps_[extent.begins_at + length] = left;
  return extent;
}

void FileExtents::give_back(const FileExtent& extent) {
  const std::uint64_t length = aligned(extent.bytes);
  if (length == 0) return;
  auto [gap, inserted] = gaps_.emplace(extent.begins_at, length);
  if (const auto next = std::next(gap);
      next != gaps_.end() && next->first == gap->first + gap->second) {
    gap->second += next->second;
    gaps_.erase(next);
  }
  if (gap != gaps_.begin()) {
    const auto before = std::prev(gap);
    if (before->first + before->second == gap->first) {
      before->second += gap->second;
      gaps_.erase(gap);
      gap = before;
    }
  }
  if (gap->first + gap->second == end_) {
    end_ = gap->first;
    gaps_.erase(gap);
  }
}

std::uint64_t FileExtents::free_bytes() const {
  std::uint64_t sum = 0;
  for (const auto& [begins_at, bytes] : gaps_) sum += bytes;
  return sum;
}

}  // namespace tributary
