#include "core/codec/spec.h"

#include <fmt/format.h>

#include <cassert>
#include <charconv>
#include <cmath>
#include <optional>

#include "core/base/nearest.h"
#include "core/codec/payload.h"

namespace tributary {
namespace {

Status bad_spec(std::string what, std::string expected, std::string got, std::string remedy) {
  return Status(StatusCode::invalid_argument, {.what = std::move(what),
                                               .expected = std::move(expected),
                                               .got = std::move(got),
                                               .remedy = std::move(remedy)});
}

std::vector<std::string_view> names_of(std::span<const ParamSpec> table) {
  std::vector<std::string_view> names;
  for (const ParamSpec& param : table) names.push_back(param.name);
  return names;
}

// Parses a complete decimal number, independent of the locale. Infinity and NaN are not numbers
// here.
std::optional<double> parse_number(std::string_view text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  if (!std::isfinite(number)) return std::nullopt;
  return number;
}

// Whether 0 stands for a power of two that the family chooses.
bool may_be_chosen(const ParamSpec& param) {
  return param.kind == ParamKind::power_of_two && param.default_value == "0";
}

// Whether a number is within the parameter's bounds and of its kind.
bool allowed(const ParamSpec& param, double number) {
  if (number == 0 && may_be_chosen(param)) return true;
  if (number < param.min || number > param.max) return false;
  if (param.kind == ParamKind::real) return true;
  if (number != std::floor(number)) return false;
  if (param.kind == ParamKind::integer) return true;
  const auto whole = static_cast<std::uint64_t>(number);
  return whole != 0 && (whole & (whole - 1)) == 0;
}

}  // namespace

std::string describe_range(const ParamSpec& param) {
  switch (param.kind) {
    case ParamKind::integer:
      return fmt::format("an integer from {} to {}", param.min, param.max);
    case ParamKind::power_of_two:
      return fmt::format("a power of two from {} to {}{}", param.min, param.max,
                         may_be_chosen(param) ? ", or 0" : "");
    case ParamKind::real:
      return fmt::format("a number from {} to {}", param.min, param.max);
    case ParamKind::choice:
      return fmt::format("{}", fmt::join(param.choices, "|"));
  }
  return {};
}

Result<SpecText> split_spec(std::string_view spec) {
  constexpr std::string_view kShape = "NAME or NAME:KEY=VALUE,KEY=VALUE";
  // The limit makes every spec fit in a payload's header, and bounds the work on hostile text.
  if (spec.empty() || spec.size() > kSpecBytesMax) {
    return bad_spec("codec spec", fmt::format("1 to {} characters", kSpecBytesMax),
                    fmt::format("{}", spec.size()), "run 'tributary codec list' for the codecs");
  }
  SpecText text;
  const std::size_t colon = spec.find(':');
  text.name = spec.substr(0, colon);
  if (text.name.empty()) {
    return bad_spec(fmt::format("codec spec '{}'", spec), std::string(kShape), "no name", "");
  }
  if (colon == std::string_view::npos) return text;
  std::string_view rest = spec.substr(colon + 1);
  // Each iteration takes one pair; the string gets shorter, so the loop ends.
  while (true) {
    const std::size_t comma = rest.find(',');
    const std::string_view pair = rest.substr(0, comma);
    const std::size_t equals = pair.find('=');
    if (equals == std::string_view::npos || equals == 0 || equals + 1 == pair.size()) {
      return bad_spec(fmt::format("codec spec '{}'", spec), std::string(kShape),
                      fmt::format("'{}' where KEY=VALUE belongs", pair), "");
    }
    text.pairs.push_back({pair.substr(0, equals), pair.substr(equals + 1)});
    if (comma == std::string_view::npos) return text;
    rest = rest.substr(comma + 1);
  }
}

namespace {

// An error that suggests the parameter with the nearest name.
Status no_such_parameter(const SpecText& text, std::string_view key,
                         std::span<const ParamSpec> table) {
  const std::vector<std::string_view> names = names_of(table);
  return bad_spec(fmt::format("parameter '{}' of codec '{}'", key, text.name),
                  names.empty() ? "no parameters" : "a parameter that it has", "an unknown one",
                  names.empty() ? "leave it out" : did_you_mean(key, names));
}

}  // namespace

Result<Params> Params::make(const SpecText& text, std::span<const ParamSpec> table) {
  Params params;
  params.table_ = table;
  params.values_.resize(table.size());
  std::vector<bool> given(table.size(), false);

  // Stores a checked value. Numbers are stored with their shortest text, so that "1.0" and "1" are
  // the same codec.
  const auto assign = [&](std::size_t row, std::string_view value) -> Status {
    const ParamSpec& param = table[row];
    const auto refuse = [&](std::string remedy) {
      return bad_spec(fmt::format("parameter '{}' of codec '{}'", param.name, text.name),
                      describe_range(param), fmt::format("'{}'", value), std::move(remedy));
    };
    if (param.kind == ParamKind::choice) {
      for (const std::string_view choice : param.choices) {
        if (choice == value) {
          params.values_[row].text = value;
          return {};
        }
      }
      return refuse(did_you_mean(value, param.choices));
    }
    const std::optional<double> number = parse_number(value);
    if (!number || !allowed(param, *number)) return refuse("");
    params.values_[row] = {*number, fmt::format("{}", *number)};
    return {};
  };

  // Defaults pass through the same checks as given values, so a wrong table fails at the first use.
  for (std::size_t row = 0; row < table.size(); ++row) {
    TRIBUTARY_TRY(assign(row, table[row].default_value));
  }
  for (const SpecText::Pair& pair : text.pairs) {
    std::size_t row = 0;
    while (row < table.size() && table[row].name != pair.key) ++row;
    if (row == table.size()) return no_such_parameter(text, pair.key, table);
    if (given[row]) {
      return bad_spec(fmt::format("parameter '{}' of codec '{}'", pair.key, text.name), "one value",
                      "two", "keep one of them");
    }
    given[row] = true;
    TRIBUTARY_TRY(assign(row, pair.value));
  }
  return params;
}

const Params::Value& Params::at(std::string_view key) const {
  for (std::size_t row = 0; row < table_.size(); ++row) {
    if (table_[row].name == key) return values_[row];
  }
  assert(false && "a family asked for a parameter that its own table lacks");
  static const Value kNone;
  return kNone;
}

std::int64_t Params::integer(std::string_view key) const {
  return static_cast<std::int64_t>(at(key).number);
}
double Params::real(std::string_view key) const { return at(key).number; }
std::string_view Params::choice(std::string_view key) const { return at(key).text; }

std::string Params::canonical(std::string_view name) const {
  std::string spec(name);
  char separator = ':';
  for (std::size_t row = 0; row < table_.size(); ++row) {
    const ParamSpec& param = table_[row];
    // Numbers are compared as numbers, because a default may be written in another form.
    const bool is_default = param.kind == ParamKind::choice
                                ? values_[row].text == param.default_value
                                : values_[row].number == parse_number(param.default_value);
    if (is_default) continue;
    spec += fmt::format("{}{}={}", separator, param.name, values_[row].text);
    separator = ',';
  }
  return spec;
}

}  // namespace tributary
