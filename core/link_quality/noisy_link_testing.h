// A synthetic link with known latency and rate; queues add random times.
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
  double queue_s = 0;     // mean of the exponential time that queues add to a latency
  double rate_noise = 0;  // mean of the exponential share that other traffic adds to a byte's time

  // Uniform in [0, 1).
  double uniform() { return static_cast<double>(random_() >> 11) * 0x1p-53; }
  // Random sizes between the two, equally many per decade.
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

  std::mt19937_64 random_;  // the standard defines its output
};

}  // namespace tributary
