#include "core/plan/corrections.h"

#include <algorithm>
#include <cmath>

#include "core/plan/inputs/learned_factor.h"

namespace tributary {

void fade(std::map<std::string, double>& corrections, const std::string& in_force) {
  for (auto& [key, factor] : corrections) {
    if (key != in_force) factor = std::pow(factor, 1 - kFading);
  }
}

void learn(std::map<std::string, double>& corrections, const PlanCodec& codec,
           const PlanOption& predicted, double measured_s, bool young) {
  const double ratio = measured_s / predicted.cost.exchange_s;
  if (!std::isfinite(ratio) || ratio <= 0) return;
  const std::string key = correction_key(predicted.choice.collective, codec);
  if (!corrections.contains(key) && corrections.size() >= kCorrectionsMax) return;
  const double before = learned_factor(corrections, predicted.choice.collective, codec);
  const double most = young ? kYoungSurpriseMax : kSurpriseMax;
  const double factor =
      before * std::pow(std::clamp(ratio, 1 / most, most), young ? kYoungShare : kCorrectionShare);
  corrections[key] = std::clamp(factor, 1 / kCorrectionMax, kCorrectionMax);
}

}  // namespace tributary
