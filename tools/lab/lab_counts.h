// Statistics of a relay in a file that the relay maps and other processes read: punctuality,
// packets carried and packets dropped.
//
// The relay is the only writer. There is no lock: a reader may see the counts of one packet
// incompletely.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "core/base/status.h"
#include "core/lab/packet_link.h"

namespace tributary {

// One direction of a link. "Late" is the time between the exact due time of a packet and its
// delivery.
struct DirectionCounts {
  PacketLinkCounts link;
  std::uint64_t late_ns_sum = 0;
  std::uint64_t late_ns_max = 0;
  std::array<std::uint64_t, 40> late = {};  // histogram by the bit width of the nanoseconds

  void note_late(std::uint64_t late_ns);
  double late_ms_mean() const;
  // Percentile from the histogram: at most a factor of two above the true value.
  double late_ms_percentile(double share) const;
};

struct NodeCounts {
  DirectionCounts up;
  DirectionCounts down;
};

class CountsFile {
 public:
  // Creates the file with all counts 0. Fails with io_error.
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

// Reads the current counts, apart from a packet being counted; empty if the file is missing or too
// large.
std::vector<NodeCounts> read_counts(const std::string& path);

}  // namespace tributary
