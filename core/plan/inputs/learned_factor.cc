#include "core/plan/inputs/learned_factor.h"

#include <fmt/format.h>

#include <cmath>
#include <string_view>

#include "core/plan/inputs/inputs.h"

namespace tributary {
namespace {

// The factor for a collective that was never used. The best of several predictions is more often
// too optimistic than too pessimistic, and for an unused collective nothing but predictions is
// known.
constexpr double kUntriedDoubt = 1.2;

// The mean of the logarithms of factors. The prior counts as one more of them.
class MeanFactor {
 public:
  explicit MeanFactor(double beforehand) : sum_(beforehand) {}
  void add(double factor) {
    sum_ += std::log(factor);
    ++count_;
  }
  double value() const { return sum_ / count_; }

 private:
  double sum_;
  double count_ = 1;
};

}  // namespace

std::string correction_key(wire::Collective collective, const PlanCodec& codec) {
  return fmt::format("{} {}", wire::EnumNameCollective(collective), codec.spec);
}

double learned_factor(const std::map<std::string, double>& corrections, wire::Collective collective,
                      const PlanCodec& codec) {
  if (const auto own = corrections.find(correction_key(collective, codec));
      own != corrections.end()) {
    return own->second;
  }
  MeanFactor all(0);
  for (const auto& [key, factor] : corrections) all.add(factor);
  MeanFactor alike(all.value());
  const std::string prefix = fmt::format("{} ", wire::EnumNameCollective(collective));
  bool tried = corrections.empty();
  for (const auto& [key, factor] : corrections) {
    if (!key.starts_with(prefix)) continue;
    alike.add(factor);
    tried = true;
  }
  return std::exp(alike.value()) * (tried ? 1 : kUntriedDoubt);
}

}  // namespace tributary
