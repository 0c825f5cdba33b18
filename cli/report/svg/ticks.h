// Where an axis has its lines: at round numbers, or at powers of ten.
#pragma once

#include <string>
#include <vector>

namespace tributary::report {

struct Ticks {
  double first = 0;  // the ends of the axis, which hold all values
  double last = 1;
  std::vector<double> at;
  int decimals = 0;  // that tell neighbours apart
};

// About `wanted` of them, at multiples of 1, 2 or 5 times a power of ten. Both ends are ticks. An
// empty range gets some room, and values that are not finite make an axis from 0 to 1.
Ticks linear_ticks(double low, double high, int wanted);

// The same, but the axis ends where the values do: for an axis of rounds or of time.
Ticks inner_ticks(double low, double high, int wanted);

// Powers of ten, and 2 and 5 times them where few would be left; low must be above 0.
Ticks log_ticks(double low, double high);

}  // namespace tributary::report
