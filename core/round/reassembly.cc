#include "core/round/reassembly.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace tributary {

Status check_layout(const wire::Part& part, const PartLayout& layout) {
  const bool fits = part.segments() == 1 && part.stage_bytes() == layout.bytes &&
                    part.parts() == layout.parts() && part.part() < layout.parts() &&
                    part.offset() == layout.offset(part.part()) &&
                    part.payload_bytes() == layout.size(part.part());
  if (fits) return {};
  return Status(
      StatusCode::mismatch,
      {.what = "part of a payload",
       .expected = fmt::format("one of {} parts of {} bytes", layout.parts(), layout.part_bytes),
       .got = fmt::format("part {} of {}, {} bytes at {}", part.part(), part.parts(),
                          part.payload_bytes(), part.offset()),
       .remedy = "cut payloads as the plan says"});
}

Reassembly::Reassembly(const PartLayout& layout)
    : layout_(layout), received_(layout.parts()), bytes_(layout.bytes) {}

void Reassembly::take(std::uint32_t part, ByteSpan payload) {
  if (received_.test(part)) return;
  if (!payload.empty()) {
    std::memcpy(bytes_.data() + layout_.offset(part), payload.data(), payload.size());
  }
  received_.set(part);
  ++count_;
  end_ = std::max(end_, part + 1);
}

std::vector<wire::Range> Reassembly::missing(bool all, std::size_t runs_max) const {
  std::vector<wire::Range> runs;
  const std::uint32_t end = all ? layout_.parts() : end_;
  for (std::uint32_t part = 0; part < end; ++part) {
    if (received_.test(part)) continue;
    if (!runs.empty() && runs.back().first() + runs.back().count() == part) {
      runs.back() = wire::Range(runs.back().first(), runs.back().count() + 1);
    } else if (runs.size() < runs_max) {
      runs.emplace_back(part, 1u);
    } else {
      break;
    }
  }
  return runs;
}

}  // namespace tributary
