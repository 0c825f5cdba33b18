#include "core/base/clock.h"

#include <cassert>

namespace tributary {

using std::chrono::nanoseconds;
using std::chrono::system_clock;

nanoseconds SystemClock::now() const { return std::chrono::steady_clock::now().time_since_epoch(); }

system_clock::time_point SystemClock::wall_time() const { return system_clock::now(); }

nanoseconds ManualClock::now() const { return nanoseconds(now_ns_.load()); }

system_clock::time_point ManualClock::wall_time() const {
  return system_clock::time_point(
      std::chrono::duration_cast<system_clock::duration>(nanoseconds(epoch_ns_ + now_ns_)));
}

void ManualClock::advance(nanoseconds by) {
  assert(by >= nanoseconds::zero());
  now_ns_ += by.count();
}

void ManualClock::set_wall_time(system_clock::time_point date) {
  epoch_ns_ = nanoseconds(date.time_since_epoch()).count() - now_ns_;
}

}  // namespace tributary
