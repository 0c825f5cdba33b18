// The rate of one direction of a link, and how it changes over virtual time.
//
// Not thread-safe. A call costs O(steps between the oldest time that is kept and the last byte).
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
  // Constant.
  explicit LinkRate(double mbit_s) : mbit_s_(mbit_s) {}
  // `mbit_s` times the factor of the current step. Durations and factors are drawn. Time 0 is
  // inside the first step, so that links do not change at the same time. Objects with the same
  // draws have the same steps.
  LinkRate(double mbit_s, std::vector<RateStep> steps, SeededDraws draws);
  // Rate and delay of the trace from this offset on. The trace repeats.
  LinkRate(std::shared_ptr<const LinkTrace> trace, TimeNs offset_ns);

  // When the last of `bytes` has left, if the first leaves at `from`.
  TimeNs last_byte_at(TimeNs from, std::uint64_t bytes);
  // What a trace adds to the delay at that time.
  TimeNs delay_ns(TimeNs at);
  // Nothing before this time will be asked for.
  void forget_before(TimeNs now);

 private:
  struct Step {
    TimeNs ends_at_ns = 0;
    double mbit_s = 0;  // 0: no limit
    TimeNs delay_ns = 0;
  };

  bool constant() const { return steps_.empty() && trace_ == nullptr; }
  Step next_step();
  // The place of the step at that time.
  std::size_t place_at(TimeNs at);

  double mbit_s_ = 0;
  std::vector<RateStep> steps_;
  SeededDraws draws_{0, DrawUse::rate_steps, 0};
  std::shared_ptr<const LinkTrace> trace_;
  std::size_t next_ = 0;
  std::deque<Step> known_;  // in order, without gaps
};

}  // namespace tributary
