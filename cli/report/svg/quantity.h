// What a number is, and how people read it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace tributary::report {

enum class Quantity : std::uint8_t {
  one,    // a loss, a ratio
  count,  // whole things: rounds, agents
  share,  // 0 to 1, read as percent
  bytes,  // in powers of 1000
  seconds,
  bits_per_s,
};

// What an axis is divided by, and what stands behind its name: 1e6 and "MB".
struct DisplayUnit {
  double size = 1;
  std::string_view name = {};
};

// The unit in which a largest value reads best.
DisplayUnit unit_for(Quantity quantity, double largest);

// With its unit: "12.3 MB", "97.4 %", "31 ms"; "no value" for what is not finite.
std::string text_of(Quantity quantity, double value);

}  // namespace tributary::report
