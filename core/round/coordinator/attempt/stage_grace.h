// The times at which the payloads of open stages arrive, and from them the time at which a stage
// closes without the members that are late.
//
// A stage that has enough payloads closes after a grace time that follows the arrivals: a share of
// the time in which the last of these payloads arrived, and at least a fixed time. A payload that
// arrives later does not move that time. Pure: every call gets the time. Not thread-safe.
#pragma once

#include <cstdint>
#include <vector>

#include "core/round/common/machine/events.h"
#include "core/round/common/machine/policy.h"

namespace tributary {

// The grace time of a job (RoundPolicy::grace_ms and grace_factor).
struct GraceRule {
  TimeNs least_ns = 0;  // 0: there is none, and a stage waits for its deadline
  double factor = 0;

  bool given() const { return least_ns > 0; }
  // The rule of a round that waits so many times as long.
  GraceRule times(std::int64_t patience) const;
  TimeNs of(TimeNs took_ns) const;
};

GraceRule grace_rule(const RoundPolicy& policy);

class StageGrace {
 public:
  // The first stage of every bucket opens now.
  StageGrace(const GraceRule& rule, std::size_t buckets, TimeNs now);

  // False: stages have no grace time.
  bool given() const { return rule_.given(); }
  // The next stage of the bucket opens.
  void opened(std::uint32_t bucket, TimeNs now);
  // A payload of the bucket's open stage was added.
  void arrived(std::uint32_t bucket, TimeNs now);
  // The time at which the last of `enough` payloads arrived; kNever if fewer have.
  TimeNs enough_ns(std::uint32_t bucket, std::uint32_t enough) const;
  // The time at which the bucket's open stage closes without the late members if `enough` payloads
  // suffice; kNever if fewer have arrived.
  TimeNs due_ns(std::uint32_t bucket, std::uint32_t enough) const;

 private:
  struct Stage {
    TimeNs opened_ns = 0;
    std::vector<TimeNs> arrived_ns;  // ascending; at most one for each member
  };

  const GraceRule rule_;
  std::vector<Stage> stages_;  // by bucket
};

}  // namespace tributary
