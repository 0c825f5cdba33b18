// What the numbers along an axis are, and how people read them.
#pragma once

#include <QString>
#include <cstdint>

namespace tributary::dashboard {

inline constexpr double kBitsPerByte = 8;

enum class Unit : std::uint8_t {
  one,               // a loss, a ratio
  count,             // whole things: rounds, agents
  share,             // 0 to 1, read as percent
  bytes,             // in powers of 1024
  bytes_per_second,  // in powers of 1024
  bits_per_second,   // in powers of 1000
  seconds,
  celsius,
  watts,
  wall_time,  // seconds since 1970, read as date and time of day
};

// What a number is divided by before it is written, and what stands behind it: 1048576 and "MiB".
struct Scale {
  double size = 1;
  QString name = {};
};

// The scale in which a largest value reads best.
Scale scale_for(Unit unit, double largest);

// What numbers are in that nothing has divided: "B", "s"; a share's is nothing.
QString base_unit(Unit unit);

// With its unit: "12.3 MiB", "97.4 %", "31 ms"; "no value" for what is not finite.
QString text_of(Unit unit, double value);

// With so many decimals, without a unit, and with a minus sign only before what is not nothing.
QString plain_number(double value, int decimals);

}  // namespace tributary::dashboard
