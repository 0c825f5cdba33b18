// Converts values to pixels and back along one axis, linear or logarithmic.
//
// A pure value type: immutable, constant time.
#pragma once

#include <cmath>

#include "core/run/series/series.h"

namespace tributary::dashboard {

class AxisMap {
 public:
  // `range.low` is at pixel_low and `range.high` at pixel_high. On a log axis, both values must be
  // above 0, and the range must not be empty.
  AxisMap(Extent range, double pixel_low, double pixel_high, bool log)
      : log_(log), low_(turned(range.low)), pixel_low_(pixel_low) {
    per_value_ = (pixel_high - pixel_low) / (turned(range.high) - low_);
  }

  // Returns NaN for a value that a log axis cannot show.
  double pixel(double value) const { return pixel_low_ + (turned(value) - low_) * per_value_; }
  double value(double pixel) const {
    const double turned_back = low_ + (pixel - pixel_low_) / per_value_;
    return log_ ? std::pow(10, turned_back) : turned_back;
  }

 private:
  double turned(double value) const {
    if (!log_) return value;
    return value > 0 ? std::log10(value) : std::nan("");
  }

  bool log_;
  double low_;
  double pixel_low_;
  double per_value_ = 1;
};

}  // namespace tributary::dashboard
