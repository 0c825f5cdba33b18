// Spec strings: "int8:block=1024,rounding=stochastic". A family declares its parameters in a table;
// parsing, checking, help and the canonical form all follow from that table.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/status.h"

namespace tributary {

enum class ParamKind : std::uint8_t { integer, power_of_two, real, choice };

struct ParamSpec {
  std::string_view name;
  ParamKind kind;
  std::string_view default_value;
  double min = 0;  // of a number, inclusive; so is max
  double max = 0;
  std::span<const std::string_view> choices = {};
  std::string_view help = {};
};

// "integer from 1 to 8", "nearest|stochastic": what a parameter may be.
std::string describe_range(const ParamSpec& param);

// A spec string taken apart, nothing checked but its shape: NAME[:KEY=VALUE[,KEY=VALUE]...].
struct SpecText {
  struct Pair {
    std::string_view key;
    std::string_view value;
  };
  std::string_view name;
  std::vector<Pair> pairs;
};
Result<SpecText> split_spec(std::string_view spec);

// The checked values of a family's parameters.
class Params {
 public:
  // Refuses unknown and repeated keys and values outside the table's bounds.
  static Result<Params> make(const SpecText& text, std::span<const ParamSpec> table);

  std::int64_t integer(std::string_view key) const;
  double real(std::string_view key) const;
  std::string_view choice(std::string_view key) const;

  // NAME, then what differs from the defaults, in the table's order: one string per codec.
  std::string canonical(std::string_view name) const;

 private:
  struct Value {
    double number = 0;
    std::string text;  // canonical
  };
  const Value& at(std::string_view key) const;

  std::span<const ParamSpec> table_;
  std::vector<Value> values_;  // one per row of the table
};

}  // namespace tributary
