#include "core/service/settings/settings.h"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <cmath>
#include <utility>

#include "core/base/files/file.h"
#include "core/base/nearest.h"

namespace tributary {
namespace {

constexpr std::uint64_t kFileBytesMax = 1u << 20;

using Value = Settings::Value;

// The value as it appears in errors.
std::string describe(const Value& value) {
  struct Describe {
    std::string operator()(bool value) const { return value ? "true" : "false"; }
    std::string operator()(std::int64_t value) const { return fmt::format("{}", value); }
    std::string operator()(double value) const { return fmt::format("{}", value); }
    std::string operator()(const std::string& value) const { return fmt::format("\"{}\"", value); }
    std::string operator()(const std::vector<std::string>&) const { return "a list"; }
  };
  return std::visit(Describe{}, value);
}

// The error of an unsuitable value. The caller adds the key and its place.
Status unfit(std::string expected, const Value& got) {
  return Status(StatusCode::invalid_argument,
                {.what = {}, .expected = std::move(expected), .got = describe(got), .remedy = {}});
}

// Converts a TOML value. Settings have no dates, nested lists or lists of numbers.
Result<Value> value_of(const toml::node& node) {
  if (const auto* text = node.as_string()) return Value(text->get());
  if (const auto* flag = node.as_boolean()) return Value(flag->get());
  if (const auto* integer = node.as_integer()) return Value(integer->get());
  if (const auto* real = node.as_floating_point()) return Value(real->get());
  const Status no_use(StatusCode::invalid_argument,
                      {.what = {},
                       .expected = "a string, a number, true, false or a list of strings",
                       .got = "something else",
                       .remedy = {}});
  const auto* list = node.as_array();
  if (!list) return no_use;
  std::vector<std::string> texts;
  for (const toml::node& item : *list) {
    if (!item.is_string()) return no_use;
    texts.push_back(item.as_string()->get());
  }
  return Value(std::move(texts));
}

using Each = std::function<Status(const std::string& key, const toml::node& node)>;

// Visits every value of a table and its inner tables. Keys of inner tables are joined by dots.
Status walk(const toml::table& table, const std::string& prefix, const Each& each) {
  for (const auto& [key, node] : table) {
    const std::string name = prefix + std::string(key.str());
    if (const toml::table* inner = node.as_table()) {
      TRIBUTARY_TRY(walk(*inner, name + ".", each));
    } else {
      TRIBUTARY_TRY(each(name, node));
    }
  }
  return {};
}

// toml++ reports errors as exceptions.
Result<toml::table> parse(std::string_view text, const std::string& source) {
  try {
    return toml::parse(text, source);
  } catch (const toml::parse_error& error) {
    return Status(StatusCode::invalid_argument,
                  {.what = fmt::format("{}:{}", source, error.source().begin.line),
                   .expected = "TOML",
                   .got = std::string(error.description()),
                   .remedy = {}});
  }
}

}  // namespace

void Settings::bind(std::string key, Accept accept) {
  bound_.emplace(std::move(key), std::move(accept));
}

// Each setter writes its target only after all checks, so a refused value leaves the default.
void Settings::text(std::string key, std::string& target) {
  bind(std::move(key), [&target](const Value& value) -> Status {
    const auto* text = std::get_if<std::string>(&value);
    if (!text) return unfit("a text", value);
    target = *text;
    return {};
  });
}

void Settings::texts(std::string key, std::vector<std::string>& target) {
  bind(std::move(key), [&target](const Value& value) -> Status {
    const auto* texts = std::get_if<std::vector<std::string>>(&value);
    if (!texts) return unfit("a list of strings", value);
    target = *texts;
    return {};
  });
}

void Settings::flag(std::string key, bool& target) {
  bind(std::move(key), [&target](const Value& value) -> Status {
    const auto* flag = std::get_if<bool>(&value);
    if (!flag) return unfit("true or false", value);
    target = *flag;
    return {};
  });
}

void Settings::real(std::string key, double& target, double min, double max) {
  bind(std::move(key), [&target, min, max](const Value& value) -> Status {
    const auto* integer = std::get_if<std::int64_t>(&value);
    const auto* real = std::get_if<double>(&value);
    // A whole number is accepted for a real one.
    const double number = integer ? static_cast<double>(*integer) : real ? *real : NAN;
    if (!(number >= min && number <= max)) {
      return unfit(fmt::format("a number from {} to {}", min, max), value);
    }
    target = number;
    return {};
  });
}

Result<std::uint64_t> Settings::whole_number(const Value& value, std::uint64_t min,
                                             std::uint64_t max) {
  // A real number is refused, even without a fraction.
  const auto* integer = std::get_if<std::int64_t>(&value);
  if (!integer || std::cmp_less(*integer, min) || std::cmp_greater(*integer, max)) {
    return unfit(fmt::format("a whole number from {} to {}", min, max), value);
  }
  return static_cast<std::uint64_t>(*integer);
}

// Passes a value to the setting's function and adds the place to its error.
Status Settings::set(const std::string& key, const Value& value, const std::string& place) {
  const auto found = bound_.find(key);
  if (found == bound_.end()) {
    std::vector<std::string_view> known;
    for (const auto& [name, accept] : bound_) known.push_back(name);
    return Status(StatusCode::invalid_argument, {.what = place,
                                                 .expected = "a known setting",
                                                 .got = fmt::format("'{}'", key),
                                                 .remedy = did_you_mean(key, known)});
  }
  if (Status status = found->second(value); !status.ok()) {
    Fault fault = status.fault();
    fault.what = fmt::format("{}: {}{}{}", place, key, fault.what.empty() ? "" : ": ", fault.what);
    return Status(status.code(), std::move(fault));
  }
  given_.insert(key);
  return {};
}

Status Settings::read_file(const std::string& path) {
  TRIBUTARY_ASSIGN(const Bytes bytes, tributary::read_file(path, kFileBytesMax));
  return read_text({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, path);
}

Status Settings::read_text(std::string_view toml, const std::string& source) {
  TRIBUTARY_ASSIGN(const toml::table table, parse(toml, source));
  return walk(table, "", [&](const std::string& key, const toml::node& node) -> Status {
    const std::string place = fmt::format("{}:{}", source, node.source().begin.line);
    Result<Value> value = value_of(node);
    if (!value.ok()) return std::move(value).status().at(fmt::format("{}: {}", place, key));
    return set(key, *value, place);
  });
}

Status Settings::assign(std::string_view assignment) {
  const std::size_t equals = assignment.find('=');
  const std::string place = fmt::format("--set {}", assignment);
  if (equals == std::string_view::npos) {
    return Status(StatusCode::invalid_argument,
                  {.what = place, .expected = "KEY=VALUE", .got = "no '='", .remedy = {}});
  }
  const std::string key(assignment.substr(0, equals));
  const std::string_view text = assignment.substr(equals + 1);
  // The text is parsed within brackets, so that '#' does not begin a comment: "5#x" is a text (a
  // key, for example), not 5.
  const Result<toml::table> parsed = parse(fmt::format("value = [{}]", text), place);
  if (parsed.ok() && parsed->size() == 1) {
    const toml::array* values = parsed->get("value")->as_array();
    if (values != nullptr && values->size() == 1) {
      Result<Value> value = value_of(*values->get(0));
      if (value.ok()) {
        Status as_parsed = set(key, *value, place);
        // A setting that takes a text also takes one that reads as a number or a truth value.
        const bool is_text = std::holds_alternative<std::string>(*value);
        if (as_parsed.ok() || is_text || !set(key, std::string(text), place).ok()) return as_parsed;
        return {};
      }
    }
  }
  return set(key, std::string(text), place);
}

Status Settings::missing(std::string_view key, std::string remedy) const {
  return Status(StatusCode::invalid_argument, {.what = fmt::format("setting {}", key),
                                               .expected = "a value",
                                               .got = "none",
                                               .remedy = std::move(remedy)});
}

}  // namespace tributary
