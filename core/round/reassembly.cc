#include "core/round/reassembly.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <iterator>

namespace tributary {

std::uint64_t ByteRuns::add(std::uint64_t offset, std::uint64_t bytes) {
  if (bytes == 0) return 0;
  std::uint64_t begin = offset;
  std::uint64_t end = offset + bytes;
  std::uint64_t known = 0;
  auto run = runs_.upper_bound(begin);
  if (run != runs_.begin() && std::prev(run)->second >= begin) --run;
  while (run != runs_.end() && run->first <= end) {
    known += run->second - run->first;
    begin = std::min(begin, run->first);
    end = std::max(end, run->second);
    run = runs_.erase(run);
  }
  runs_.emplace(begin, end);
  const std::uint64_t fresh = end - begin - known;
  count_ += fresh;
  return fresh;
}

std::uint64_t ByteRuns::from_start() const {
  const bool begun = !runs_.empty() && runs_.begin()->first == 0;
  return begun ? runs_.begin()->second : 0;
}

Status check_size(const wire::Part& part, std::uint64_t payload_bytes) {
  if (part.segments() == 1 && part.stage_bytes() == payload_bytes) return {};
  return Status(StatusCode::mismatch,
                {.what = "part of a payload",
                 .expected = fmt::format("a payload of {} bytes", payload_bytes),
                 .got = fmt::format("one of {} bytes", part.stage_bytes()),
                 .remedy = "do not change a payload while it is being sent"});
}

std::uint64_t Reassembly::take(std::uint64_t offset, ByteSpan part) {
  if (!part.empty()) std::memcpy(bytes_.data() + offset, part.data(), part.size());
  return runs_.add(offset, part.size());
}

}  // namespace tributary
