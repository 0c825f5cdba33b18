// How long a round waits because the disk is slower than rounds write.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace tributary {

// The disk must be able to write a round in half of the time between two rounds; then it catches
// up. So each round waits a little, and none waits long. The pure function of:
struct RoundPause {
  static constexpr std::chrono::seconds kMax{10};

  double bytes = 0;                       // that the disk must write for the round
  double bytes_per_s = 0;                 // of the disk; 0: not measured
  double pressure = 1;                    // 0: no need to wait, 1: the whole time
  std::chrono::nanoseconds since_last{};  // time since the round before

  std::chrono::nanoseconds time() const {
    if (bytes_per_s <= 0) return {};
    const double needed_s = std::min(2 * std::clamp(pressure, 0.0, 1.0) * bytes / bytes_per_s,
                                     std::chrono::duration<double>(kMax).count());
    const auto needed = std::chrono::duration_cast<std::chrono::nanoseconds>(
        std::chrono::duration<double>(needed_s));
    return std::max(needed - since_last, std::chrono::nanoseconds(0));
  }
};

}  // namespace tributary
