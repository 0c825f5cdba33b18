// A link to be measured: its latency and rate are known, and queues add time by chance.
#pragma once

#include <cmath>
#include <cstdint>
#include <random>

#include "core/link_quality/link_estimator.h"

namespace tributary {

class NoisyLink {
 public:
  NoisyLink(double alpha, double beta, std::uint64_t seed)
      : alpha_s(alpha), beta_s_per_byte(beta), random_(seed) {}

  double alpha_s;
  double beta_s_per_byte;
  double queue_s = 0;     // mean of what queues add to a latency, exponential
  double rate_noise = 0;  // mean share that other traffic adds to a byte's time, exponential

  // In [0, 1).
  double uniform() { return static_cast<double>(random_() >> 11) * 0x1p-53; }
  // Sizes between these, as many in each decade.
  double size(double least, double most) { return least * std::pow(most / least, uniform()); }

  LinkTransfer transfer(TransferKind kind, double bytes, double at_s) {
    const double queued_s = queue_s * exponential();
    const double latencies = kind == TransferKind::train     ? 0
                             : kind == TransferKind::one_way ? 1
                                                             : 2;
    const double line_s = bytes * beta_s_per_byte * (1 + rate_noise * exponential());
    const double seconds =
        latencies * alpha_s + line_s + (kind == TransferKind::train ? 0 : queued_s);
    return {.kind = kind, .bytes = bytes, .seconds = seconds, .at_s = at_s};
  }

 private:
  double exponential() { return -std::log1p(-uniform()); }

  std::mt19937_64 random_;  // the standard says what it draws
};

}  // namespace tributary
