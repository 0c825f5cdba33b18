// A mean of what came last, exponentially weighted, with the weights corrected at the beginning:
// the first value is the first mean, and not a mean with the nothing before it.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

namespace tributary::dashboard {

class SmoothedMean {
 public:
  static constexpr double kWeightMax = 0.9999;

  // The weight of what was before: 0 smooths nothing.
  explicit SmoothedMean(double weight) : weight_(weight > 0 ? std::min(weight, kWeightMax) : 0) {}

  // A gap gives a gap, and the mean goes on after it as it was.
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
  double unused_ = 1;  // weight that belongs to the time before the first value
};

}  // namespace tributary::dashboard
