#include "dashboard/plot/data/quantity.h"

#include <QDateTime>
#include <algorithm>
#include <array>
#include <cmath>

namespace tributary::dashboard {
namespace {

struct Prefix {
  double size;
  const char* name;
};

constexpr std::array<Prefix, 5> kBinaryPrefixes = {
    {{1, ""}, {1024, "Ki"}, {1048576, "Mi"}, {1073741824, "Gi"}, {1099511627776, "Ti"}}};
constexpr std::array<Prefix, 5> kDecimalPrefixes = {
    {{1, ""}, {1e3, "k"}, {1e6, "M"}, {1e9, "G"}, {1e12, "T"}}};
constexpr std::array<Prefix, 4> kSmallPrefixes = {{{1e-9, "n"}, {1e-6, "µ"}, {1e-3, "m"}, {1, ""}}};
constexpr double kMinute = 60;
constexpr double kHour = 3600;

template <std::size_t N>
const Prefix& prefix_for(const std::array<Prefix, N>& prefixes, double largest) {
  // What rounds to the next prefix's one is written with it: not "1000 ms".
  const auto* best = prefixes.begin();
  for (const auto* one = prefixes.begin(); one != prefixes.end(); ++one) {
    if (largest >= one->size * 0.9995) best = one;
  }
  return *best;
}

QString with_prefix(const Prefix& prefix, const char* unit) {
  return QString::fromUtf8(prefix.name) + QString::fromUtf8(unit);
}

Scale seconds_scale(double largest) {
  if (largest >= 3 * kHour) return {kHour, "h"};
  if (largest >= 3 * kMinute) return {kMinute, "min"};
  const Prefix& prefix = prefix_for(kSmallPrefixes, largest);
  return {prefix.size, with_prefix(prefix, "s")};
}

// As many decimals as three or four digits need.
int decimals_for(double value, int digits) {
  const double size = std::fabs(value);
  if (size == 0) return 0;
  // Rounding may give one more digit before the point: 9.9996 is 10.0.
  const int before = static_cast<int>(std::floor(std::log10(size * 1.0005))) + 1;
  return std::clamp(digits - before, 0, 9);
}

QString small_or_large(double value) {
  const double size = std::fabs(value);
  if (size != 0 && (size < 1e-4 || size >= 1e6)) return QString::number(value, 'g', 4);
  return QString::number(value, 'g', 4 + (size >= 1e4 ? 2 : 0));
}

}  // namespace

Scale scale_for(Unit unit, double largest) {
  const double size = std::isfinite(largest) ? std::fabs(largest) : 0;
  const auto binary = [&](const char* name) {
    const Prefix& prefix = prefix_for(kBinaryPrefixes, size);
    return Scale{prefix.size, with_prefix(prefix, name)};
  };
  switch (unit) {
    case Unit::bytes:
      return binary("B");
    case Unit::bytes_per_second:
      return binary("B/s");
    case Unit::bits_per_second: {
      const Prefix& prefix = prefix_for(kDecimalPrefixes, size);
      return {prefix.size, with_prefix(prefix, "bit/s")};
    }
    case Unit::seconds:
      return size == 0 ? Scale{1, "s"} : seconds_scale(size);
    case Unit::share:
      return {0.01, "%"};
    case Unit::celsius:
      return {1, "°C"};
    case Unit::watts: {
      const bool small = size != 0 && size < 1;
      return small ? Scale{1e-3, "mW"} : Scale{1, "W"};
    }
    case Unit::one:
    case Unit::count:
    case Unit::wall_time:
      break;
  }
  return {};
}

QString base_unit(Unit unit) {
  if (unit == Unit::share) return {};
  return scale_for(unit, 1).name;
}

QString plain_number(double value, int decimals) {
  const QString text = QString::number(value, 'f', decimals);
  const bool nothing =
      std::none_of(text.begin(), text.end(), [](QChar c) { return c >= '1' && c <= '9'; });
  return nothing && text.startsWith('-') ? text.mid(1) : text;
}

QString text_of(Unit unit, double value) {
  if (!std::isfinite(value)) return "no value";
  if (unit == Unit::one) return small_or_large(value);
  if (unit == Unit::wall_time) {
    const auto milliseconds = static_cast<qint64>(std::llround(value * 1000));
    return QDateTime::fromMSecsSinceEpoch(milliseconds).toString("yyyy-MM-dd HH:mm:ss");
  }
  const Scale scale = scale_for(unit, value);
  const double scaled = value / scale.size;
  const bool whole = (unit == Unit::count || scale.size == 1) && scaled == std::round(scaled);
  const QString number = plain_number(scaled, whole ? 0 : decimals_for(scaled, 3));
  return scale.name.isEmpty() ? number : number + ' ' + scale.name;
}

}  // namespace tributary::dashboard
