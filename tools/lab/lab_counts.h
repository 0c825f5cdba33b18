// What a relay has done, in a file that it maps and others read: how punctual it was, what it
// carried and what it dropped.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "core/base/status.h"
#include "core/lab/packet_line.h"

namespace tributary {

struct DirectionCounts {
  LineCounts line;
  std::uint64_t late_ns_sum = 0;
  std::uint64_t late_ns_max = 0;
  std::array<std::uint64_t, 40> late = {};  // by the number of bits of the nanoseconds

  void note_late(std::uint64_t late_ns);
  double late_ms_mean() const;
  // At most a factor of two above the true one.
  double late_ms_percentile(double share) const;
};

struct NodeCounts {
  DirectionCounts up;
  DirectionCounts down;
};

class CountsFile {
 public:
  // Of a new file, all zeros.
  static Result<CountsFile> create(const std::string& path, std::uint32_t nodes);
  ~CountsFile();
  CountsFile(CountsFile&& other) noexcept;
  CountsFile& operator=(CountsFile&&) = delete;

  NodeCounts& node(std::uint32_t node) { return counts_[node]; }

 private:
  CountsFile(NodeCounts* counts, std::uint32_t nodes) : counts_(counts), nodes_(nodes) {}
  NodeCounts* counts_;
  std::uint32_t nodes_;
};

// As they are at this moment, give or take a packet; nothing where the file is not theirs.
std::vector<NodeCounts> read_counts(const std::string& path);

}  // namespace tributary
