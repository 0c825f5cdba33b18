#include "core/plan/unseen_slowdown.h"

#include <algorithm>
#include <cmath>

namespace tributary {
namespace {

// Steps of the bisection, which give the factor with a relative precision of 0.01 %.
constexpr int kHalvings = 16;

}  // namespace

bool UnseenSlowdown::explains(double measured_s, const std::function<double(double)>& predicted_s) {
  const double expected_s = predicted_s(factor_);
  const bool slow = measured_s > kSurprise * expected_s;
  // A link that recovers is only of interest if it was slow before.
  const bool quick = factor_ > 1 && measured_s * kSurprise < expected_s;
  if (!slow && !quick) {
    kept_ = std::min(kept_ + 1, kKept);
    row_ = 0;
    return false;
  }
  // A choice that never matched its prediction is itself the cause.
  if (kept_ < kKept) return false;
  if (row_ == 0) mildest_s_ = measured_s;
  // The mildest surprise of the row determines the factor, so that one extreme value does not.
  mildest_s_ = slow ? std::min(mildest_s_, measured_s) : std::max(mildest_s_, measured_s);
  if (++row_ < kRounds) return true;
  row_ = 0;
  if (slow && predicted_s(kMost) < mildest_s_) return false;
  // Bisection on a log scale for the factor that predicts the measured duration.
  double least = 0;
  double most = std::log(kMost);
  for (int i = 0; i < kHalvings; ++i) {
    const double middle = (least + most) / 2;
    (predicted_s(std::exp(middle)) < mildest_s_ ? least : most) = middle;
  }
  factor_ = least > 0 ? std::exp(most) : 1;
  return true;
}

}  // namespace tributary
