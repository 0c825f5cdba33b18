// Units of a run's numbers and their text for people, common to reports, pictures and tables. All
// functions are pure.
//
// Prefixes are those of SI, powers of 1000: kB, MB. No locale is used, so a text is the same on
// every machine. Any thread may call the functions.
#pragma once

#include <cstdint>
#include <string>

namespace tributary {

inline constexpr double kSecondsPerDay = 86400;

// The unit in which a number is stored.
enum class Unit : std::uint8_t {
  one,    // a number without a unit: a loss, a ratio
  count,  // an integer number of things: rounds, agents
  share,  // 0 to 1, shown as a percentage
  bytes,
  bytes_per_second,
  bits_per_second,
  seconds,
  celsius,
  watts,
  wall_time,  // seconds since 1970, shown as date and time of day
};

// The divisor of a number and the unit after it: 1e6 and "MB". Prefixes are powers of 1000.
struct UnitScale {
  double size = 1;
  std::string name = {};
};

// The scale for a set of numbers whose largest is `largest`.
UnitScale unit_scale(Unit unit, double largest);

// The unit without a prefix: "B", "s"; empty for a share.
std::string base_unit_name(Unit unit);

// The number with its unit: "12.3 MB", "97.4 %", "31 ms"; "no value" if it is not finite. Wall time
// is shown in a time zone `utc_offset_s` ahead of UTC.
std::string quantity_text(Unit unit, double value, double utc_offset_s = 0);

// Returns the rate of a link that takes `s_per_byte` per byte; NaN unless that is above 0.
double bits_per_second(double s_per_byte);

// Returns the number with this many decimals, without a unit. A value that rounds to 0 has no minus
// sign.
std::string number_text(double value, int decimals);

}  // namespace tributary
