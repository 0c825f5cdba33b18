// A daemon's settings: each is bound to the variable that takes it, and then files and flags fill
// the variables. What is not bound is an unknown key, and refused with the nearest known one.
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
  using Value = std::variant<bool, std::int64_t, double, std::string, std::vector<std::string>>;
  using Accept = std::function<Status(const Value& value)>;

  // Keys are written with dots, as "link.endpoint" for endpoint in [link].
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

  // TOML. What comes later replaces what came before.
  Status read_file(const std::string& path);
  Status read_text(std::string_view toml, const std::string& source);
  // "link.endpoint=tcp://*:4640": the value as TOML, or as it stands where that makes no sense.
  Status assign(std::string_view assignment);

  bool given(std::string_view key) const { return given_.contains(key); }
  // An error that names the setting, for one that is missing or does not fit others.
  Status missing(std::string_view key, std::string remedy) const;

 private:
  static Result<std::uint64_t> whole_number(const Value& value, std::uint64_t min,
                                            std::uint64_t max);
  Status set(const std::string& key, const Value& value, const std::string& place);

  std::map<std::string, Accept, std::less<>> bound_;
  std::set<std::string, std::less<>> given_;
};

}  // namespace tributary
