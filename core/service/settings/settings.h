// The settings of a daemon. Each key is bound to a variable; files and assignments then fill the
// variables. An unknown key is refused with the nearest known key in the error. Not thread-safe.
//
// All errors are invalid_argument and name the key and its place, except that a file may be missing
// (not_found) or unreadable (io_error). Bound variables must outlive this object.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

#include "core/base/status.h"

namespace tributary {

class Settings {
 public:
  // The types that a setting may have in TOML.
  using Value = std::variant<bool, std::int64_t, double, std::string, std::vector<std::string>>;
  // Checks and takes a value. The caller adds the key and its place to an error.
  using Accept = std::function<Status(const Value& value)>;

  // A key contains a dot for each table: "link.endpoint" is `endpoint` in [link].
  // Binds a key to a function, or to a variable with its type and range.
  void bind(std::string key, Accept accept);
  void text(std::string key, std::string& target);
  void texts(std::string key, std::vector<std::string>& target);
  void flag(std::string key, bool& target);
  void real(std::string key, double& target, double min, double max);
  template <typename Integer>
  requires std::is_unsigned_v<Integer>
  void number(const std::string& key, Integer& target, Integer min,
              Integer max = std::numeric_limits<Integer>::max()) {
    bind(key, [&target, min, max](const Value& value) -> Status {
      TRIBUTARY_ASSIGN(const std::uint64_t number, whole_number(value, min, max));
      target = static_cast<Integer>(number);
      return {};
    });
  }

  // Read TOML. A later value replaces an earlier one.
  Status read_file(const std::string& path);
  Status read_text(std::string_view toml, const std::string& source);
  // "link.endpoint=tcp://*:4640". The value is parsed as TOML. If that fails, or if the setting
  // takes a text and TOML reads another type ("job.input=2"), the text itself is the value.
  Status assign(std::string_view assignment);

  // Whether a file or an assignment has set the key.
  bool given(std::string_view key) const { return given_.contains(key); }
  // The same for any key that begins with `prefix`.
  bool any_given(std::string_view prefix) const {
    const auto first = given_.lower_bound(prefix);
    return first != given_.end() && first->starts_with(prefix);
  }
  // An error that names the setting, for a setting that is missing or contradicts others.
  Status missing(std::string_view key, std::string remedy) const;

 private:
  static Result<std::uint64_t> whole_number(const Value& value, std::uint64_t min,
                                            std::uint64_t max);
  Status set(const std::string& key, const Value& value, const std::string& place);

  std::map<std::string, Accept, std::less<>> bound_;
  std::set<std::string, std::less<>> given_;
};

}  // namespace tributary
