#include "core/sim/scenario/table_reader.h"

#include <cmath>
#include <sstream>
#include <utility>

#include "core/base/nearest.h"

namespace tributary {
namespace {

std::string text_of(const toml::node& node) {
  std::ostringstream out;
  node.visit([&](const auto& value) { out << value; });
  return out.str();
}

}  // namespace

Status wrong_setting(std::string what, std::string expected, std::string got, std::string remedy) {
  return Status(StatusCode::invalid_argument, {.what = std::move(what),
                                               .expected = std::move(expected),
                                               .got = std::move(got),
                                               .remedy = std::move(remedy)});
}

Result<toml::table> parse_scenario_table(std::string_view text, const std::string& place) {
  try {
    return toml::parse(text, place);
  } catch (const toml::parse_error& error) {
    return Status(StatusCode::corrupt_data,
                  {.what = fmt::format("{}, line {}", place, error.source().begin.line),
                   .expected = "TOML",
                   .got = std::string(error.description()),
                   .remedy = "mend the file"});
  }
}

Status TableReader::number(std::string_view key, double& out, double min, double max) {
  const toml::node* const node = find(key);
  if (node == nullptr) return {};
  const auto value = node->value<double>();
  if (value && std::isfinite(*value) && *value >= min && *value <= max) {
    out = *value;
    return {};
  }
  return bad(key, fmt::format("a number from {} to {}", min, max), *node);
}

Status TableReader::text(std::string_view key, std::string& out) {
  const toml::node* const node = find(key);
  if (node == nullptr) return {};
  if (const auto value = node->value_exact<std::string>()) {
    out = *value;
    return {};
  }
  return bad(key, "a text", *node);
}

Status TableReader::texts(std::string_view key, std::vector<std::string>& out) {
  const toml::node* const node = find(key);
  if (node == nullptr) return {};
  const toml::array* const array = node->as_array();
  if (array == nullptr) return bad(key, "a list of strings", *node);
  out.clear();
  for (const toml::node& item : *array) {
    const auto value = item.value_exact<std::string>();
    if (!value) return bad(key, "a list of strings", *node);
    out.push_back(*value);
  }
  return {};
}

Status TableReader::span(std::string_view key, SpanMs& out) {
  const toml::node* const node = find(key);
  if (node == nullptr) return {};
  constexpr double kDayMs = 86'400'000;
  const toml::array* const array = node->as_array();
  if (array != nullptr && array->size() == 2) {
    const auto low = array->get(0)->value<double>();
    const auto high = array->get(1)->value<double>();
    if (low && high && *low >= 0 && *low <= *high && *high <= kDayMs) {
      out = {*low, *high};
      return {};
    }
  }
  return bad(key, "two times in milliseconds, [lowest, highest]", *node);
}

Status TableReader::span(std::string_view key, Span& out, double min, double max) {
  const toml::node* const node = find(key);
  if (node == nullptr) return {};
  const toml::array* const array = node->as_array();
  if (array != nullptr && array->size() == 2) {
    const auto low = array->get(0)->value<double>();
    const auto high = array->get(1)->value<double>();
    if (low && high && *low >= min && *low <= *high && *high <= max) {
      out = {*low, *high};
      return {};
    }
  }
  return bad(key, fmt::format("two numbers from {} to {}, [lowest, highest]", min, max), *node);
}

Status TableReader::span(std::string_view key, std::optional<Span>& out, double min, double max) {
  Span given;
  TRIBUTARY_TRY(span(key, given, min, max));
  if (table_.contains(key)) out = given;
  return {};
}

Status TableReader::flag(std::string_view key, bool& out) {
  const toml::node* const node = find(key);
  if (node == nullptr) return {};
  const auto value = node->value_exact<bool>();
  if (!value) return bad(key, "true or false", *node);
  out = *value;
  return {};
}

Result<std::vector<const toml::table*>> TableReader::tables(std::string_view key) {
  std::vector<const toml::table*> out;
  const toml::node* const node = find(key);
  if (node == nullptr) return out;
  const toml::array* const array = node->as_array();
  if (array == nullptr || array->empty()) return bad(key, "a list of tables", *node);
  for (const toml::node& item : *array) {
    if (item.as_table() == nullptr) return bad(key, "a list of tables", item);
    out.push_back(item.as_table());
  }
  return out;
}

Result<const toml::table*> TableReader::table(std::string_view key) {
  const toml::node* const node = find(key);
  if (node == nullptr) return nullptr;
  const toml::table* const table = node->as_table();
  if (table == nullptr) return bad(key, "a table", *node);
  return table;
}

Status TableReader::refuse_others() const {
  for (const auto& [key, node] : table_) {
    if (std::ranges::find(asked_, key.str()) != asked_.end()) continue;
    return wrong_setting(fmt::format("{}, line {}", place_, node.source().begin.line),
                         "a known key", fmt::format("'{}'", key.str()),
                         did_you_mean(key.str(), asked_));
  }
  return {};
}

const toml::node* TableReader::find(std::string_view key) {
  asked_.push_back(key);
  return table_.get(key);
}

Status TableReader::bad(std::string_view key, std::string expected, const toml::node& node) const {
  return wrong_setting(fmt::format("{}, line {}: {}", place_, node.source().begin.line, key),
                       std::move(expected), text_of(node), "change it in the scenario");
}

}  // namespace tributary
