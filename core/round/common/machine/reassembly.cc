#include "core/round/common/machine/reassembly.h"

#include <fmt/format.h>

#include <cstring>

namespace tributary {

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
  return arrived_.add({offset, part.size()});
}

}  // namespace tributary
