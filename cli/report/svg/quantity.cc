#include "cli/report/svg/quantity.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <span>

namespace tributary::report {
namespace {

constexpr auto kBytes =
    std::to_array<DisplayUnit>({{1, "B"}, {1e3, "kB"}, {1e6, "MB"}, {1e9, "GB"}, {1e12, "TB"}});
constexpr auto kBits = std::to_array<DisplayUnit>(
    {{1, "bit/s"}, {1e3, "kbit/s"}, {1e6, "Mbit/s"}, {1e9, "Gbit/s"}, {1e12, "Tbit/s"}});
constexpr auto kSeconds = std::to_array<DisplayUnit>(
    {{1e-6, "µs"}, {1e-3, "ms"}, {1, "s"}, {60, "min"}, {3600, "h"}, {86400, "days"}});

std::span<const DisplayUnit> units_of(Quantity quantity) {
  switch (quantity) {
    case Quantity::bytes:
      return kBytes;
    case Quantity::bits_per_s:
      return kBits;
    case Quantity::seconds:
      return kSeconds;
    default:
      return {};
  }
}

// A minute and a half reads as 90 s, and 5 min as 5 min.
double enough(const DisplayUnit& unit) { return unit.size * (unit.size >= 60 ? 2 : 1); }

}  // namespace

DisplayUnit unit_for(Quantity quantity, double largest) {
  if (quantity == Quantity::share) return {0.01, "%"};
  const std::span<const DisplayUnit> units = units_of(quantity);
  if (units.empty()) return {};
  const bool calendar = quantity == Quantity::seconds;
  DisplayUnit chosen = calendar && largest == 0 ? DisplayUnit{1, "s"} : units.front();
  for (const DisplayUnit& unit : units) {
    if (std::abs(largest) >= (calendar ? enough(unit) : unit.size)) chosen = unit;
  }
  return chosen;
}

std::string text_of(Quantity quantity, double value) {
  if (!std::isfinite(value)) return "no value";
  if (quantity == Quantity::count) return fmt::format("{:.10g}", value);
  const DisplayUnit unit = unit_for(quantity, value);
  const double shown = value / unit.size;
  if (unit.name.empty()) return fmt::format("{:.4g}", shown);
  if (unit.size == 1 && quantity == Quantity::bytes) return fmt::format("{:.0f} B", shown);
  const int decimals = std::abs(shown) >= 100 ? 0 : std::abs(shown) >= 10 ? 1 : 2;
  return fmt::format("{:.{}f} {}", shown, decimals, unit.name);
}

}  // namespace tributary::report
