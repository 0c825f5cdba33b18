#include "dashboard/plot/data/ticks.h"

#include <QDateTime>
#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace tributary::dashboard {
namespace {

constexpr std::size_t kTicksMax = 1000;
constexpr double kDay = 86400;

bool usable(Extent range) {
  return std::isfinite(range.low) && std::isfinite(range.high) && range.high > range.low;
}

// The smallest of 1, 2 and 5 times a power of ten that is not below.
double round_step(double least) {
  const double power = std::pow(10, std::floor(std::log10(least)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= least * (1 - 1e-9)) return factor * power;
  }
  return 10 * power;
}

// Multiples of the step within the range, counted in whole numbers so that no error adds up.
std::vector<double> multiples(double step, Extent range) {
  std::vector<double> found;
  const double first = std::ceil(range.low / step - 1e-6);
  const double last = std::floor(range.high / step + 1e-6);
  for (double n = first; n <= last && found.size() < kTicksMax; ++n) found.push_back(n * step);
  return found;
}

Ticks linear_axis_ticks(Unit unit, Extent range, int wanted) {
  const Scale scale = scale_for(unit, std::max(std::fabs(range.low), std::fabs(range.high)));
  double step = round_step((range.high - range.low) / scale.size / wanted);
  if (unit == Unit::count) step = std::max(step, 1.0);
  const int decimals = std::clamp(static_cast<int>(std::ceil(-std::log10(step) - 1e-9)), 0, 12);
  Ticks ticks;
  ticks.unit = scale.name;
  for (const double n : multiples(step, {range.low / scale.size, range.high / scale.size})) {
    ticks.at.push_back(n * scale.size);
    const bool large = std::fabs(n) >= 1e7 && scale.name.isEmpty();
    ticks.labels.push_back(large ? QString::number(n, 'g', 6) : plain_number(n, decimals));
  }
  const double minor = step * scale.size / (unit == Unit::count && step < 5 ? 1 : 5);
  ticks.minor = multiples(minor, range);
  return ticks;
}

// Of 2 and 5 of each power, which stand between the labels: all that fit, or the one furthest from
// the power that there is, since one label alone tells nothing of a log axis.
void label_between(Ticks& ticks, Unit unit, std::vector<double> between, bool fit) {
  if (!fit && !ticks.at.empty() && !between.empty()) {
    const auto away = [&](double at) { return std::fabs(std::log(at / ticks.at.front())); };
    const auto furthest = std::ranges::max_element(between, {}, away);
    std::swap(between.front(), *furthest);
    ticks.minor.insert(ticks.minor.end(), between.begin() + 1, between.end());
    between.resize(1);
  }
  for (const double at : between) {
    ticks.at.push_back(at);
    ticks.labels.push_back(text_of(unit, at));
  }
}

Ticks log_axis_ticks(Unit unit, Extent range, int wanted) {
  const bool binary = unit == Unit::bytes || unit == Unit::bytes_per_second;
  const double base = binary ? 2 : 10;
  const double low = std::log(range.low) / std::log(base);
  const double high = std::log(range.high) / std::log(base);
  // Less than a power between the ends: round numbers tell more than one power does.
  if (high - low < (binary ? 3 : 1)) {
    Ticks ticks = linear_axis_ticks(unit, range, wanted);
    ticks.minor.clear();
    return ticks;
  }
  const double step = std::max(1.0, round_step((high - low) / wanted));
  Ticks ticks;
  for (const double power : multiples(step, {low, high})) {
    ticks.at.push_back(std::pow(base, power));
    ticks.labels.push_back(text_of(unit, ticks.at.back()));
  }
  if (step > 1 || binary) return ticks;
  // Three to a power, unless the picture is so low that they would stand in one another.
  const bool fit = 3 * (high - low) <= 2 * wanted;
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

constexpr std::array<double, 22> kTimeSteps = {
    1,    2,    5,    10,    15,    30,    60,   120,      300,      600,       900,
    1800, 3600, 7200, 10800, 21600, 43200, kDay, 2 * kDay, 7 * kDay, 14 * kDay, 28 * kDay};

QString moment_text(double at, double step, bool new_day) {
  const auto moment =
      QDateTime::fromMSecsSinceEpoch(static_cast<qint64>(std::llround(at * 1000)), Qt::UTC);
  if (step >= kDay) return moment.toString("MMM d");
  const QString time =
      moment.toString(step < 1 ? "HH:mm:ss.zzz" : (step < 60 ? "HH:mm:ss" : "HH:mm"));
  return new_day ? time + '\n' + moment.toString("MMM d") : time;
}

Ticks time_axis_ticks(Extent range, int wanted, double offset) {
  const double least = (range.high - range.low) / wanted;
  double step = least < 1 ? std::max(0.001, round_step(least)) : 0;
  if (step == 0) {
    const auto* found = std::lower_bound(kTimeSteps.begin(), kTimeSteps.end(), least);
    step = found == kTimeSteps.end() ? kDay * round_step(least / kDay) : *found;
  }
  Ticks ticks;
  double day = std::nan("");
  for (const double local : multiples(step, {range.low + offset, range.high + offset})) {
    // The day stands below the first tick and below every one that begins another.
    const double its_day = std::floor(local / kDay);
    ticks.at.push_back(local - offset);
    ticks.labels.push_back(moment_text(local, step, its_day != day));
    day = its_day;
  }
  return ticks;
}

}  // namespace

Ticks ticks_for(Unit unit, Extent range, bool log, int wanted, double utc_offset_seconds) {
  if (!usable(range) || wanted < 1) return {};
  if (unit == Unit::wall_time) return time_axis_ticks(range, wanted, utc_offset_seconds);
  if (log && range.low > 0) return log_axis_ticks(unit, range, wanted);
  return linear_axis_ticks(unit, range, wanted);
}

QString axis_label(const QString& name, const Ticks& ticks) {
  if (ticks.unit.isEmpty()) return name;
  return name.isEmpty() ? ticks.unit : name + " (" + ticks.unit + ')';
}

}  // namespace tributary::dashboard
