#include "core/run/units/axis_ticks.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <ctime>
#include <utility>

namespace tributary {
namespace {

// Bound on the ticks of an axis, whatever range is requested.
constexpr std::size_t kTicksMax = 1000;

// False for a range without a width, or with an infinite or NaN end.
bool usable(Extent range) {
  return std::isfinite(range.low) && std::isfinite(range.high) && range.high > range.low;
}

// The smallest of 1, 2 and 5 times a power of ten that is at least `least`.
double round_step(double least) {
  const double power = std::pow(10, std::floor(std::log10(least)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= least * (1 - 1e-9)) return factor * power;
  }
  return 10 * power;
}

// Multiples of the step within the range. They are counted in integers, so errors do not
// accumulate.
std::vector<double> multiples(double step, Extent range) {
  std::vector<double> found;
  const double first = std::ceil(range.low / step - 1e-6);
  const double last = std::floor(range.high / step + 1e-6);
  for (double n = first; n <= last && found.size() < kTicksMax; ++n) found.push_back(n * step);
  return found;
}

// The scale of an axis and the distance of its ticks in that scale.
struct LinearAxis {
  UnitScale scale;
  double step;

  LinearAxis(Unit unit, Extent range, int ticks_goal)
      : scale(unit_scale(unit, std::max(std::fabs(range.low), std::fabs(range.high)))),
        step(round_step((range.high - range.low) / scale.size / ticks_goal)) {
    if (unit == Unit::count) step = std::max(step, 1.0);
  }
};

// Decimals follow from the step. Very large numbers without a unit are written with an exponent.
AxisTicks linear_axis_ticks(Unit unit, Extent range, int ticks_goal) {
  const auto [scale, step] = LinearAxis(unit, range, ticks_goal);
  const int decimals = std::clamp(static_cast<int>(std::ceil(-std::log10(step) - 1e-9)), 0, 12);
  AxisTicks ticks;
  ticks.unit = scale.name;
  for (const double n : multiples(step, {range.low / scale.size, range.high / scale.size})) {
    ticks.at.push_back(n * scale.size);
    const bool large = std::fabs(n) >= 1e7 && scale.name.empty();
    ticks.labels.push_back(large ? fmt::format("{:.6g}", n) : number_text(n, decimals));
  }
  const double minor = step * scale.size / (unit == Unit::count && step < 5 ? 1 : 5);
  ticks.minor = multiples(minor, range);
  return ticks;
}

// "20 kB": the value with four significant digits in its own unit.
std::string round_text(Unit unit, double value) {
  const UnitScale scale = unit_scale(unit, value);
  const std::string number = fmt::format("{:.4g}", value / scale.size);
  return scale.name.empty() ? number : number + ' ' + scale.name;
}

// Labels ticks between the powers, at 2 and 5 of each. If not all fit, only the one farthest from
// the existing label gets one: a single label does not show the scale of a log axis.
void label_between(AxisTicks& ticks, Unit unit, std::vector<double> between, bool fit) {
  if (!fit && !ticks.at.empty() && !between.empty()) {
    const auto away = [&](double at) { return std::fabs(std::log(at / ticks.at.front())); };
    const auto furthest = std::ranges::max_element(between, {}, away);
    std::swap(between.front(), *furthest);
    ticks.minor.insert(ticks.minor.end(), between.begin() + 1, between.end());
    between.resize(1);
  }
  for (const double at : between) {
    ticks.at.push_back(at);
    ticks.labels.push_back(round_text(unit, at));
  }
}

AxisTicks log_axis_ticks(Unit unit, Extent range, int ticks_goal) {
  const double low = std::log10(range.low);
  const double high = std::log10(range.high);
  // Within less than one power of ten, linear ticks are more informative.
  if (high - low < 1) {
    AxisTicks ticks = linear_axis_ticks(unit, range, ticks_goal);
    ticks.minor.clear();
    return ticks;
  }
  const double step = std::max(1.0, round_step((high - low) / ticks_goal));
  AxisTicks ticks;
  for (const double power : multiples(step, {low, high})) {
    ticks.at.push_back(std::pow(10, power));
    ticks.labels.push_back(round_text(unit, ticks.at.back()));
  }
  if (step > 1) return ticks;
  // Three labels per power, unless the picture is so small that they would overlap.
  const bool fit = 3 * (high - low) <= 2 * ticks_goal;
  const bool few = ticks.at.size() < 2 || (ticks.at.size() < 3 && fit);
  std::vector<double> between;
  for (double power = std::floor(low); power <= high; ++power) {
    for (int digit = 2; digit <= 9; ++digit) {
      const double at = digit * std::pow(10, power);
      if (at < range.low || at > range.high) continue;
      if (few && (digit == 2 || digit == 5)) {
        between.push_back(at);
      } else {
        ticks.minor.push_back(at);
      }
    }
  }
  label_between(ticks, unit, std::move(between), fit);
  return ticks;
}

// Steps in seconds that divide minutes, hours, days or weeks.
constexpr std::array<double, 22> kTimeSteps = {1,
                                               2,
                                               5,
                                               10,
                                               15,
                                               30,
                                               60,
                                               120,
                                               300,
                                               600,
                                               900,
                                               1800,
                                               3600,
                                               7200,
                                               10800,
                                               21600,
                                               43200,
                                               kSecondsPerDay,
                                               2 * kSecondsPerDay,
                                               7 * kSecondsPerDay,
                                               14 * kSecondsPerDay,
                                               28 * kSecondsPerDay};

// The time of day of a tick, with the date if a new day begins.
std::string moment_label(double at, double step, bool new_day) {
  const auto milliseconds = static_cast<std::int64_t>(std::llround(at * 1000));
  const std::int64_t seconds = (milliseconds - (milliseconds % 1000 + 1000) % 1000) / 1000;
  const std::tm moment = fmt::gmtime(static_cast<std::time_t>(seconds));
  std::string day = fmt::format("{:%b} {}", moment, moment.tm_mday);
  if (step >= kSecondsPerDay) return day;
  std::string time = fmt::format("{:%H:%M}", moment);
  if (step < 60) time += fmt::format(":{:02}", moment.tm_sec);
  if (step < 1) time += fmt::format(".{:03}", milliseconds - seconds * 1000);
  return new_day ? time + '\n' + day : time;
}

// Multiples of the step in local time, so that ticks are at local midnight and full hours.
AxisTicks time_axis_ticks(Extent range, int ticks_goal, double offset) {
  const double least = (range.high - range.low) / ticks_goal;
  double step = least < 1 ? std::max(0.001, round_step(least)) : 0;
  if (step == 0) {
    const auto* found = std::lower_bound(kTimeSteps.begin(), kTimeSteps.end(), least);
    step = found == kTimeSteps.end() ? kSecondsPerDay * round_step(least / kSecondsPerDay) : *found;
  }
  AxisTicks ticks;
  double day = std::nan("");
  for (const double local : multiples(step, {range.low + offset, range.high + offset})) {
    // The date is below the first tick and below each tick that begins another day.
    const double its_day = std::floor(local / kSecondsPerDay);
    ticks.at.push_back(local - offset);
    ticks.labels.push_back(moment_label(local, step, its_day != day));
    day = its_day;
  }
  return ticks;
}

// Extends the range if it has no width.
Extent with_width(Extent range) {
  if (!std::isfinite(range.low) || !std::isfinite(range.high) || range.low > range.high) {
    return {0, 1};
  }
  // A range too narrow for the precision of a double counts as empty.
  const double size = std::max(std::fabs(range.low), std::fabs(range.high));
  if (range.high - range.low > 1e-9 * size) return range;
  const double margin = size == 0 ? 1 : 0.1 * size;
  const double low = range.low - margin;
  return {range.low >= 0 ? std::max(low, 0.0) : low, range.high + margin};
}

}  // namespace

AxisTicks axis_ticks(Unit unit, Extent range, bool log, int ticks_goal, double utc_offset_s) {
  if (!usable(range) || ticks_goal < 1) return {};
  if (unit == Unit::wall_time) return time_axis_ticks(range, ticks_goal, utc_offset_s);
  if (log && range.low > 0) return log_axis_ticks(unit, range, ticks_goal);
  return linear_axis_ticks(unit, range, ticks_goal);
}

Extent round_range(Unit unit, Extent data, bool log, int ticks_goal) {
  if (log) {
    if (!(data.low > 0) || !std::isfinite(data.high) || data.high < data.low) data = {1, 1};
    const double first = std::floor(std::log10(data.low) + 1e-9);
    const double last = std::ceil(std::log10(data.high) - 1e-9);
    return {std::pow(10, first), std::pow(10, std::max(last, first + 1))};
  }
  Extent range = with_width(data);
  // A wider range may have wider steps and so other round numbers; the second pass is sufficient.
  for (int i = 0; i < 2; ++i) {
    const LinearAxis axis(unit, range, std::max(1, ticks_goal));
    const double step = axis.step * axis.scale.size;
    range = {std::floor(range.low / step + 1e-9) * step,
             std::ceil(range.high / step - 1e-9) * step};
  }
  return range;
}

}  // namespace tributary
