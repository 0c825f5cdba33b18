// Fits seconds = latencies * alpha + bytes * beta to the readings of a link such that the line lies
// below most of them, because queues and other traffic only ever add time. One reading in twelve
// may lie below the line, so a single reading that was timed too short does not determine it.
// Errors are relative: absolute errors would let the longest transfers alone determine the latency.
//
// Pure. A fit costs a fixed number of passes over the readings.
#pragma once

#include <span>

namespace tributary {

// One timed transfer, in the form that the fit uses.
struct LinkReading {
  double latencies = 0;  // how many times alpha is contained in the time
  double bytes = 0;
  double seconds = 0;  // positive
  double weight = 1;
};

// A confidence of 0.5 means a standard error of a tenth of the value.
struct LinkFit {
  bool alpha_known = false;  // true if at least one reading contains latency
  bool beta_known = false;   // true if at least one reading contains bytes
  double alpha_s = 0;
  double beta_s_per_byte = 0;
  double alpha_confidence = 0;  // 0 to 1
  double beta_confidence = 0;

  double seconds(double latencies, double bytes) const {
    return latencies * alpha_s + bytes * beta_s_per_byte;
  }
};

// The standard error that corresponds to a confidence, as a share of the value.
double relative_error(double confidence);

// The confidence depends on the number of readings, on their agreement, and on whether their sizes
// separate latency from rate. If all sizes are equal, each quantity contains the other, and both
// confidences are 0.
LinkFit fit_link(std::span<const LinkReading> readings);

}  // namespace tributary
