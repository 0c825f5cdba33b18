// Limits the bytes that an agent echoes for probes. The prober keeps to a budget (link_prober.h),
// but the echoing agent does not rely on that, because an echo may be much longer than its request.
//
// Times are parameters, in seconds of any clock. Used by one thread.
#pragma once

#include <algorithm>

namespace tributary {

class EchoAllowance {
 public:
  // One train of maximum length with its envelopes at once, and the same amount again in about a
  // minute.
  static constexpr double kBurstBytes = 1024 * 1024 + 8 * 1024;
  static constexpr double kBytesPerS = 16 * 1024;

  // Returns true and counts the bytes as sent if they may be sent now.
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
