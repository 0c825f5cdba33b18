// The rate of one direction of a link over virtual time.
//
// Not thread-safe. A call takes O(steps between the oldest kept time and the last byte).
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "core/net/shaped/trace.h"
#include "core/round/common/machine/events.h"
#include "core/sim/scenario/draws.h"
#include "core/sim/scenario/scenario.h"

namespace tributary {

class LinkRate {
 public:
  // A constant rate; 0: no limit.
  explicit LinkRate(double mbit_s) : mbit_s_(mbit_s) {}
  // `mbit_s` times the factor of the current step. Durations and factors are drawn. Time 0 lies
  // within the first step, so that the links do not all change at the same time. Objects with the
  // same draws have the same steps.
  LinkRate(double mbit_s, std::vector<RateStep> steps, SeededDraws draws);
  // Rate and delay of the trace, beginning at this offset. The trace repeats.
  LinkRate(std::shared_ptr<const LinkTrace> trace, TimeNs offset_ns);

  // The time at which the last of `bytes` bytes has left, if the first leaves at `from`.
  TimeNs last_byte_at(TimeNs from, std::uint64_t bytes);
  // The delay that the trace adds at this time; 0 without a trace.
  TimeNs delay_ns(TimeNs at);
  // Frees the steps before `now`; later calls must not ask for earlier times.
  void forget_before(TimeNs now);

 private:
  struct Step {
    TimeNs ends_at_ns = 0;
    double mbit_s = 0;  // 0: no limit
    TimeNs delay_ns = 0;
  };

  bool constant() const { return steps_.empty() && trace_ == nullptr; }
  Step next_step();
  // Index in known_ of the step at this time.
  std::size_t place_at(TimeNs at);

  double mbit_s_ = 0;
  std::vector<RateStep> steps_;
  SeededDraws draws_{0, DrawUse::rate_steps, 0};
  std::shared_ptr<const LinkTrace> trace_;
  std::size_t next_ = 0;
  std::deque<Step> known_;  // in order, without gaps
};

}  // namespace tributary
