// The line through what transfers took, seconds = latencies * alpha + bytes * beta, that lies below
// most of them: queues and other traffic only ever add time. One reading in twelve may lie below
// it, so that one which was timed too short does not count for all. Errors are relative, or the
// longest transfers alone would say what latency is.
#pragma once

#include <span>

namespace tributary {

struct LinkReading {
  double latencies = 0;  // how often alpha is in it
  double bytes = 0;
  double seconds = 0;  // above 0
  double weight = 1;
};

// A confidence of one half: the standard error is a tenth of the value.
struct LinkFit {
  bool alpha_known = false;  // a reading has latency in it
  bool beta_known = false;   // a reading has bytes in it
  double alpha_s = 0;
  double beta_s_per_byte = 0;
  double alpha_confidence = 0;  // 0 to 1
  double beta_confidence = 0;

  double seconds(double latencies, double bytes) const {
    return latencies * alpha_s + bytes * beta_s_per_byte;
  }
};

// The standard error, as a share of the value, that a confidence stands for.
double relative_error(double confidence);

// Confidence comes from how many readings there are, how they agree, and whether their sizes tell
// latency and rate apart: where all have the same, both stand in each, and both confidences are 0.
LinkFit fit_link(std::span<const LinkReading> readings);

}  // namespace tributary
