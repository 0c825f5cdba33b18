// Reads one table of a scenario file. The caller asks for every key by name, and refuse_others()
// refuses the keys that it did not ask for. A missing key leaves the value of `out`, which is the
// default. All errors are invalid_argument and name the file, the line and the key.
//
// The table must outlive the reader. Not thread-safe.
#pragma once

#include <fmt/format.h>

#include <toml++/toml.h>
#include <algorithm>
#include <concepts>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/status.h"
#include "core/sim/scenario/scenario.h"

namespace tributary {

// The error of a value that does not fit.
Status wrong_setting(std::string what, std::string expected, std::string got, std::string remedy);

// Parses the text of a scenario. `place` names it in errors. Returns corrupt_data, with the line,
// for text that is not TOML.
Result<toml::table> parse_scenario_table(std::string_view text, const std::string& place);

class TableReader {
 public:
  TableReader(const toml::table& table, std::string place)
      : table_(table), place_(std::move(place)) {}

  Status number(std::string_view key, double& out, double min, double max);

  // value_exact() refuses 3.0 and true, which value() would convert.
  template <std::unsigned_integral T>
  Status count(std::string_view key, T& out, T min, T max) {
    const toml::node* const node = find(key);
    if (node == nullptr) return {};
    const auto value = node->value_exact<std::int64_t>();
    if (value && *value >= 0 && static_cast<std::uint64_t>(*value) >= min &&
        static_cast<std::uint64_t>(*value) <= max) {
      out = static_cast<T>(*value);
      return {};
    }
    return bad(key, fmt::format("a whole number from {} to {}", min, max), *node);
  }

  Status text(std::string_view key, std::string& out);
  Status texts(std::string_view key, std::vector<std::string>& out);
  // Reads a range of times in milliseconds, at most one day.
  Status span(std::string_view key, SpanMs& out);
  // Both values must be above 0, because they are drawn log-uniform.
  Status span(std::string_view key, Span& out, double min, double max);
  Status span(std::string_view key, std::optional<Span>& out, double min, double max);
  Status flag(std::string_view key, bool& out);
  // Returns one table for each item; none if the key is missing.
  Result<std::vector<const toml::table*>> tables(std::string_view key);
  // Returns null if the key is missing.
  Result<const toml::table*> table(std::string_view key);
  // Call it after all keys were asked for.
  Status refuse_others() const;

 private:
  const toml::node* find(std::string_view key);
  Status bad(std::string_view key, std::string expected, const toml::node& node) const;

  const toml::table& table_;
  std::string place_;
  // The keys of the format, from which suggestions for a mistyped key are made.
  std::vector<std::string_view> asked_;
};

}  // namespace tributary
