// An exponentially weighted mean with bias correction: the first mean equals the first value,
// because the weight of the time before it is divided out.
//
// Constant time and memory. Not thread-safe.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

namespace tributary::dashboard {

class SmoothedMean {
 public:
  static constexpr double kWeightMax = 0.9999;

  // `weight` is the weight of the earlier values; 0 means no smoothing.
  explicit SmoothedMean(double weight) : weight_(weight > 0 ? std::min(weight, kWeightMax) : 0) {}

  // Adds a value and returns the mean. A gap returns a gap and leaves the mean unchanged.
  double take(double value) {
    if (!std::isfinite(value)) return std::numeric_limits<double>::quiet_NaN();
    sum_ = weight_ * sum_ + (1 - weight_) * value;
    unused_ *= weight_;
    return sum_ / (1 - unused_);
  }
  void reset() {
    sum_ = 0;
    unused_ = 1;
  }

 private:
  double weight_;
  double sum_ = 0;
  double unused_ = 1;  // weight of the time before the first value
};

}  // namespace tributary::dashboard
