#include "core/run/units/quantity.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <ctime>
#include <limits>
#include <span>

namespace tributary {
namespace {

struct Prefix {
  double size;
  const char* name;
};

constexpr auto kLargePrefixes =
    std::to_array<Prefix>({{1, ""}, {1e3, "k"}, {1e6, "M"}, {1e9, "G"}, {1e12, "T"}});
constexpr auto kSmallPrefixes =
    std::to_array<Prefix>({{1e-9, "n"}, {1e-6, "µ"}, {1e-3, "m"}, {1, ""}});
constexpr double kBitsPerByte = 8;
constexpr double kMinute = 60;
constexpr double kHour = 3600;
constexpr double kLatestMoment = 253402300799;  // the end of the year 9999

// The largest prefix for which the number is at least 1 after rounding.
UnitScale with_prefix(std::span<const Prefix> prefixes, const char* unit, double largest) {
  Prefix best = prefixes.front();
  for (const Prefix& prefix : prefixes) {
    // A value that rounds to 1 of the next prefix uses that prefix, so "1000 ms" never occurs.
    if (largest >= prefix.size * 0.9995) best = prefix;
  }
  return {best.size, fmt::format("{}{}", best.name, unit)};
}

// Minutes, hours and days are used from three of them on: "150 s" is clearer than "2.5 min".
UnitScale seconds_scale(double largest) {
  if (largest == 0) return {1, "s"};
  if (largest >= 3 * kSecondsPerDay) return {kSecondsPerDay, "days"};
  if (largest >= 3 * kHour) return {kHour, "h"};
  if (largest >= 3 * kMinute) return {kMinute, "min"};
  return with_prefix(kSmallPrefixes, "s", largest);
}

// The number of decimals for a total of `digits` digits.
int decimals_for(double value, int digits) {
  const double size = std::fabs(value);
  if (size == 0) return 0;
  // Rounding may add a digit before the point: 9.9996 becomes 10.0.
  const int before = static_cast<int>(std::floor(std::log10(size * 1.0005))) + 1;
  return std::clamp(digits - before, 0, 9);
}

// Four significant digits, with an exponent for very small and very large numbers.
std::string small_or_large(double value) {
  const double size = std::fabs(value);
  const bool by_power = size != 0 && (size < 1e-4 || size >= 1e6);
  return fmt::format("{:.{}g}", value, !by_power && size >= 1e4 ? 6 : 4);
}

// Clamped to years that a calendar text can represent.
std::string moment_text(double seconds) {
  const double bounded = std::clamp(std::floor(seconds + 0.0005), 0.0, kLatestMoment);
  return fmt::format("{:%Y-%m-%d %H:%M:%S}", fmt::gmtime(static_cast<std::time_t>(bounded)));
}

}  // namespace

UnitScale unit_scale(Unit unit, double largest) {
  const double size = std::isfinite(largest) ? std::fabs(largest) : 0;
  switch (unit) {
    case Unit::bytes:
      return with_prefix(kLargePrefixes, "B", size);
    case Unit::bytes_per_second:
      return with_prefix(kLargePrefixes, "B/s", size);
    case Unit::bits_per_second:
      return with_prefix(kLargePrefixes, "bit/s", size);
    case Unit::seconds:
      return seconds_scale(size);
    case Unit::share:
      return {0.01, "%"};
    case Unit::celsius:
      return {1, "°C"};
    case Unit::watts:
      return size != 0 && size < 1 ? UnitScale{1e-3, "mW"} : UnitScale{1, "W"};
    case Unit::one:
    case Unit::count:
    case Unit::wall_time:
      break;
  }
  return {};
}

std::string base_unit_name(Unit unit) {
  return unit == Unit::share ? std::string() : unit_scale(unit, 1).name;
}

double bits_per_second(double s_per_byte) {
  return s_per_byte > 0 ? kBitsPerByte / s_per_byte : std::numeric_limits<double>::quiet_NaN();
}

std::string number_text(double value, int decimals) {
  const std::string text = fmt::format("{:.{}f}", value, decimals);
  const bool nothing = text.find_first_of("123456789") == std::string::npos;
  return nothing && text.starts_with('-') ? text.substr(1) : text;
}

std::string quantity_text(Unit unit, double value, double utc_offset_s) {
  if (!std::isfinite(value)) return "no value";
  if (unit == Unit::one) return small_or_large(value);
  if (unit == Unit::wall_time) return moment_text(value + utc_offset_s);
  const UnitScale scale = unit_scale(unit, value);
  const double scaled = value / scale.size;
  const bool whole = (unit == Unit::count || scale.size == 1) && scaled == std::round(scaled);
  const std::string number = number_text(scaled, whole ? 0 : decimals_for(scaled, 3));
  return scale.name.empty() ? number : number + ' ' + scale.name;
}

}  // namespace tributary
