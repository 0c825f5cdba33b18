#include "core/round/coordinator/uploads/segmented_results.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "core/collective/result_segments.h"

namespace tributary {
namespace {

Status misfit(std::string expected, std::string got) {
  return Status(StatusCode::mismatch, {.what = "segments of a result",
                                       .expected = std::move(expected),
                                       .got = std::move(got),
                                       .remedy = "divide the result as all members do"});
}

}  // namespace

Status SegmentedResults::add(std::uint32_t stage, std::uint32_t segment, std::uint32_t segments,
                             Bytes bytes) {
  std::vector<std::optional<Bytes>>& all = stages_[stage];
  if (all.empty()) all.resize(segments);
  if (all.size() != segments) {
    return misfit(fmt::format("{} of them", all.size()), fmt::format("{}", segments));
  }
  if (all[segment]) return {};
  bytes_ += bytes.size();
  all[segment] = std::move(bytes);
  return {};
}

bool SegmentedResults::complete(std::uint32_t stage) const {
  const std::vector<std::optional<Bytes>>& all = stages_[stage];
  return !all.empty() &&
         std::ranges::all_of(all, [](const auto& segment) { return segment.has_value(); });
}

// A segment counts as there afterwards, without its bytes.
Result<Bytes> SegmentedResults::join(std::uint32_t stage) {
  std::vector<std::optional<Bytes>>& all = stages_[stage];
  std::uint64_t size = 0;
  for (const std::optional<Bytes>& segment : all) size += segment->size();
  const auto segments = static_cast<std::uint32_t>(all.size());
  bytes_ -= size;
  if (segments == 1) return std::exchange(*all[0], Bytes());
  Bytes joined(size);
  Status status;
  for (std::uint32_t i = 0; i < segments; ++i) {
    const ByteRange range = segment_range(size, segments, i);
    if (all[i]->size() != range.count) {
      status = misfit(fmt::format("{} bytes in segment {}", range.count, i),
                      fmt::format("{}", all[i]->size()));
    }
    if (status.ok()) std::ranges::copy(*all[i], joined.data() + range.first);
    all[i] = Bytes();
  }
  TRIBUTARY_TRY(status);
  return joined;
}

}  // namespace tributary
