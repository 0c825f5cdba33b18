#include "core/round/coordinator/attempt/stage_grace.h"

#include <algorithm>
#include <cmath>

namespace tributary {
namespace {

constexpr double kGraceMaxNs = 1e18;  // more than any deadline; bounds the conversion

}  // namespace

GraceRule grace_rule(const RoundPolicy& policy) {
  return {.least_ns = policy.grace_ms * kNsPerMs, .factor = policy.grace_factor};
}

TimeNs GraceRule::of(TimeNs took_ns) const {
  const double share = std::min(static_cast<double>(took_ns) * factor, kGraceMaxNs);
  return std::max(least_ns, static_cast<TimeNs>(share));
}

GraceRule GraceRule::times(std::int64_t patience) const {
  return {.least_ns = least_ns * patience, .factor = factor * static_cast<double>(patience)};
}

StageGrace::StageGrace(const GraceRule& rule, std::size_t buckets, TimeNs now)
    : rule_(rule), stages_(buckets, {.opened_ns = now, .arrived_ns = {}}) {}

void StageGrace::opened(std::uint32_t bucket, TimeNs now) {
  stages_[bucket] = {.opened_ns = now, .arrived_ns = {}};
}

void StageGrace::arrived(std::uint32_t bucket, TimeNs now) {
  stages_[bucket].arrived_ns.push_back(now);
}

TimeNs StageGrace::enough_ns(std::uint32_t bucket, std::uint32_t enough) const {
  const std::vector<TimeNs>& arrived = stages_[bucket].arrived_ns;
  return enough == 0 || arrived.size() < enough ? kNever : arrived[enough - 1];
}

TimeNs StageGrace::due_ns(std::uint32_t bucket, std::uint32_t enough) const {
  const TimeNs last = enough_ns(bucket, enough);
  if (!rule_.given() || last == kNever) return kNever;
  return last + rule_.of(last - stages_[bucket].opened_ns);
}

}  // namespace tributary
