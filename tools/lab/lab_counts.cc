#include "tools/lab/lab_counts.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <type_traits>
#include <utility>

#include "core/base/files/file.h"
#include "core/lab/lab_names.h"

namespace tributary {

static_assert(std::is_trivially_copyable_v<NodeCounts>, "it lives in a file");

// Bin i of the histogram counts delays of i significant bits, in ns; the last bin takes all longer
// ones.
void DirectionCounts::note_late(std::uint64_t late_ns) {
  late_ns_sum += late_ns;
  late_ns_max = std::max(late_ns_max, late_ns);
  ++late[std::min<std::size_t>(static_cast<std::size_t>(std::bit_width(late_ns)), late.size() - 1)];
}

// 0 without packets.
double DirectionCounts::late_ms_mean() const {
  if (link.packets == 0) return 0;
  return static_cast<double>(late_ns_sum) / static_cast<double>(link.packets) / 1e6;
}

// The upper bound of the histogram's bin, but never more than the exact maximum.
double DirectionCounts::late_ms_percentile(double share) const {
  std::uint64_t all = 0;
  for (const std::uint64_t count : late) all += count;
  std::uint64_t below = 0;
  for (std::size_t bits = 0; bits < late.size(); ++bits) {
    below += late[bits];
    if (all == 0 || static_cast<double>(below) < share * static_cast<double>(all)) continue;
    const double bound_ns = static_cast<double>((std::uint64_t{1} << bits) - 1);
    return std::min(bound_ns, static_cast<double>(late_ns_max)) / 1e6;
  }
  return 0;
}

// The mapping stays valid after the file is closed.
Result<CountsFile> CountsFile::create(const std::string& path, std::uint32_t nodes) {
  const std::size_t size = nodes * sizeof(NodeCounts);
  const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  void* map = MAP_FAILED;
  if (file >= 0 && ::ftruncate(file, static_cast<off_t>(size)) == 0) {
    map = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  }
  const int error = errno;
  if (file >= 0) ::close(file);
  if (map != MAP_FAILED) return CountsFile(static_cast<NodeCounts*>(map), nodes);
  return Status(
      StatusCode::io_error,
      {.what = path, .expected = {}, .got = std::generic_category().message(error), .remedy = {}});
}

CountsFile::CountsFile(CountsFile&& other) noexcept
    : counts_(std::exchange(other.counts_, nullptr)), nodes_(other.nodes_) {}

CountsFile::~CountsFile() {
  if (counts_ != nullptr) ::munmap(counts_, nodes_ * sizeof(NodeCounts));
}

// The relay writes meanwhile, so the counts of different nodes may be of different moments.
std::vector<NodeCounts> read_counts(const std::string& path) {
  const Result<Bytes> bytes = read_file(path, kLabNodesMax * sizeof(NodeCounts));
  if (!bytes.ok()) return {};
  std::vector<NodeCounts> counts(bytes->size() / sizeof(NodeCounts));
  if (!counts.empty())
    std::memcpy(counts.data(), bytes->data(), counts.size() * sizeof(NodeCounts));
  return counts;
}

}  // namespace tributary
