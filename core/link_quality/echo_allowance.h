// How much an agent echoes of what it is probed with. Who probes keeps to a budget (link_prober.h),
// and who answers does not rely on that: an echo may be much longer than what asks for it. Pure:
// times are handed in.
#pragma once

#include <algorithm>

namespace tributary {

class EchoAllowance {
 public:
  // One train as long as trains get, with its envelopes, and the same again in about a minute.
  static constexpr double kBurstBytes = 1024 * 1024 + 8 * 1024;
  static constexpr double kBytesPerS = 16 * 1024;

  // Whether so much may be sent now; then it counts as sent.
  bool take(double now_s, double bytes) {
    left_ = std::min(kBurstBytes, left_ + std::max(now_s - now_s_, 0.0) * kBytesPerS);
    now_s_ = std::max(now_s_, now_s);
    if (bytes > left_) return false;
    left_ -= bytes;
    return true;
  }

 private:
  double left_ = kBurstBytes;
  double now_s_ = 0;
};

}  // namespace tributary
