// What a number of a run is, and how people read it: one set of units for reports, pictures and
// tables.
#pragma once

#include <cstdint>
#include <string>

namespace tributary {

inline constexpr double kSecondsPerDay = 86400;

enum class Unit : std::uint8_t {
  one,    // a loss, a ratio
  count,  // whole things: rounds, agents
  share,  // 0 to 1, read as percent
  bytes,
  bytes_per_second,
  bits_per_second,
  seconds,
  celsius,
  watts,
  wall_time,  // seconds since 1970, read as date and time of day
};

// What a number is divided by before it is written, and what stands behind it: 1e6 and "MB".
// Prefixes are powers of 1000.
struct UnitScale {
  double size = 1;
  std::string name = {};
};

// The scale in which a largest value reads best.
UnitScale unit_scale(Unit unit, double largest);

// What numbers are in that nothing has divided: "B", "s"; a share's is nothing.
std::string base_unit_name(Unit unit);

// With its unit: "12.3 MB", "97.4 %", "31 ms"; "no value" for what is not finite. Wall time is told
// `utc_offset_s` ahead of UTC.
std::string quantity_text(Unit unit, double value, double utc_offset_s = 0);

// The rate of a link on which a byte takes `s_per_byte` (β); NaN where that is not above 0, or NaN.
double bits_per_second(double s_per_byte);

// With so many decimals, without a unit, and with a minus sign only before what is not nothing.
std::string number_text(double value, int decimals);

}  // namespace tributary
