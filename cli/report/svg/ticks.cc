#include "cli/report/svg/ticks.h"

#include <algorithm>
#include <cmath>

namespace tributary::report {
namespace {

// The smallest of 1, 2, 5, 10 times a power of ten that is not under `least`.
double nice_step(double least) {
  const double power = std::pow(10.0, std::floor(std::log10(least)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= least * (1 - 1e-9)) return factor * power;
  }
  return 10 * power;
}

void widen_where_empty(double& low, double& high) {
  if (!std::isfinite(low) || !std::isfinite(high) || low > high) {
    low = 0;
    high = 1;
  }
  // A range that a double can hardly divide is as good as none.
  const double size = std::max(std::abs(low), std::abs(high));
  if (high - low > 1e-9 * size && high > low) return;
  const double room = size == 0 ? 1 : 0.1 * size;
  const bool from_zero = low >= 0;
  low -= room;
  high += room;
  if (from_zero) low = std::max(low, 0.0);
}

int decimals_of(double step) {
  return std::clamp(static_cast<int>(std::ceil(-std::log10(step) - 1e-9)), 0, 12);
}

}  // namespace

Ticks linear_ticks(double low, double high, int wanted) {
  widen_where_empty(low, high);
  const double step = nice_step((high - low) / std::max(1, wanted));
  Ticks ticks;
  ticks.decimals = decimals_of(step);
  const double first = std::floor(low / step + 1e-9);
  const double last = std::ceil(high / step - 1e-9);
  for (double i = first; i <= last; ++i) ticks.at.push_back(i * step);
  ticks.first = ticks.at.front();
  ticks.last = ticks.at.back();
  return ticks;
}

Ticks inner_ticks(double low, double high, int wanted) {
  widen_where_empty(low, high);
  Ticks ticks = linear_ticks(low, high, wanted);
  ticks.first = low;
  ticks.last = high;
  const double slack = 1e-9 * (high - low);
  std::erase_if(ticks.at, [&](double at) { return at < low - slack || at > high + slack; });
  return ticks;
}

Ticks log_ticks(double low, double high) {
  if (!(low > 0) || !std::isfinite(high) || high < low) low = high = 1;
  const auto first = static_cast<int>(std::floor(std::log10(low) + 1e-9));
  auto last = static_cast<int>(std::ceil(std::log10(high) - 1e-9));
  last = std::max(last, first + 1);
  const int decades = last - first;
  const int stride = 1 + (decades - 1) / 8;
  Ticks ticks;
  for (int power = first; power <= last; power += stride) {
    const double decade = std::pow(10.0, power);
    ticks.at.push_back(decade);
    if (decades > 2 || power == last) continue;
    ticks.at.push_back(2 * decade);
    ticks.at.push_back(5 * decade);
  }
  ticks.first = ticks.at.front();
  ticks.last = std::pow(10.0, last);
  return ticks;
}

}  // namespace tributary::report
