// Which bytes of a file are in use: extents are taken at the lowest offset where they fit, and
// given back.
//
// Offsets are multiples of kAlignment, so that two extents share no page of the system and no
// sector of a disk. Not thread-safe. The time of a call grows with the number of gaps.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace tributary {

struct FileExtent {
  std::uint64_t begins_at = 0;
  std::uint64_t bytes = 0;
};

class FileExtents {
 public:
  static constexpr std::uint64_t kAlignment = 4096;
  static constexpr std::uint64_t kEndMax = std::uint64_t{1} << 48;

  // All other bytes are free. Empty if the extents overlap, are not aligned or end after kEndMax.
  static std::optional<FileExtents> around(std::vector<FileExtent> used);

  FileExtent take(std::uint64_t bytes);
  // `extent` was taken, or was in use at the beginning.
  void give_back(const FileExtent& extent);

  std::uint64_t end() const { return end_; }  // no extent in use ends after it
  std::uint64_t free_bytes() const;           // in the gaps before end()

 private:
  std::map<std::uint64_t, std::uint64_t> gaps_;  // offset and length; no two gaps touch
  std::uint64_t end_ = 0;
};

}  // namespace tributary
