// Parses spec strings such as "int8:block=1024,rounding=stochastic".
//
// A codec family declares its parameters in a table (ParamSpec). Parsing, checking, help texts and
// the canonical form use only that table. All functions are pure; errors are invalid_argument.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/status.h"

namespace tributary {

// A power of two whose default is 0 may be 0: the family chooses it.
enum class ParamKind : std::uint8_t { integer, power_of_two, real, choice };

// One parameter of a family. All views point to constants of the program.
struct ParamSpec {
  std::string_view name;
  ParamKind kind;
  std::string_view default_value;
  double min = 0;  // inclusive, for numbers
  double max = 0;  // inclusive, for numbers
  std::span<const std::string_view> choices = {};
  std::string_view help = {};
};

// Describes the values that a parameter accepts, such as "an integer from 1 to 8" or
// "nearest|stochastic".
std::string describe_range(const ParamSpec& param);

// The parts of a spec string NAME[:KEY=VALUE[,KEY=VALUE]...]. Only the syntax has been checked. The
// views point into the string that was split.
struct SpecText {
  struct Pair {
    std::string_view key;
    std::string_view value;
  };
  std::string_view name;
  std::vector<Pair> pairs;
};
Result<SpecText> split_spec(std::string_view spec);

// The checked values of a family's parameters. It refers to the family's table, which must outlive
// it.
class Params {
 public:
  // Refuses unknown and repeated keys, and values outside the table's bounds.
  static Result<Params> make(const SpecText& text, std::span<const ParamSpec> table);

  // The value of a parameter. `key` must be in the table; a typing error in it is a bug of the
  // family and asserts.
  std::int64_t integer(std::string_view key) const;
  double real(std::string_view key) const;
  std::string_view choice(std::string_view key) const;

  // NAME, followed by the parameters that differ from their defaults in the order of the table.
  // Equal codecs therefore have equal strings.
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
