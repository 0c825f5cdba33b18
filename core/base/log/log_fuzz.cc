// For any event, a JSON line must be one valid JSON object, and a text line must be one line. The
// input is divided at each 0xfe, which never occurs in UTF-8: component, message, then keys and
// values alternately.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/base/log/log.h"

namespace tributary {
namespace {

using nlohmann::json;

void require(bool condition) {
  if (!condition) std::abort();
}

std::vector<std::string_view> parts_of(std::string_view input) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t cut = input.find('\xfe');
    parts.push_back(input.substr(0, cut));
    if (cut == std::string_view::npos) return parts;
    input.remove_prefix(cut + 1);
  }
}

bool is_utf8(std::string_view text) {
  const auto dump = [&](json::error_handler_t handler) {
    return json(std::string(text)).dump(-1, ' ', false, handler);
  };
  return dump(json::error_handler_t::ignore) == dump(json::error_handler_t::replace);
}

// Valid UTF-8 must be preserved. Other text must become valid UTF-8.
void check_text(const json& parsed, std::string_view logged) {
  const std::string text = parsed.get<std::string>();
  require(is_utf8(text));
  if (is_utf8(logged)) require(text == logged);
}

void check_json(const LogEvent& event) {
  const std::string line = json_line(event, {});
  const json object = json::parse(line, nullptr, false);
  require(object.is_object() && object.size() == 5);
  check_text(object["component"], event.component);
  check_text(object["message"], event.message);
  require(object["fields"].is_object() && object["fields"].size() <= event.fields.size());
  require(object["fields"].empty() == event.fields.empty());
}

void check_lines(const LogEvent& event) {
  for (const std::string& line : {json_line(event, {}), text_line(event, {})}) {
    for (const char c : line) require(static_cast<unsigned char>(c) >= 0x20 && c != 0x7f);
    require(is_utf8(line));
  }
}

void run(std::string_view input) {
  std::vector<std::string_view> parts = parts_of(input);
  parts.resize(std::max<std::size_t>(parts.size(), 2));
  std::vector<LogField> fields;
  for (std::size_t i = 2; i + 1 < parts.size(); i += 2) {
    double number = 0;
    if (parts[i + 1].size() == sizeof(number)) {
      std::memcpy(&number, parts[i + 1].data(), sizeof(number));
      fields.push_back({parts[i], number});
    } else {
      fields.push_back({parts[i], parts[i + 1]});
    }
  }
  const LogEvent event{LogLevel::info, parts[0], parts[1], fields};
  check_json(event);
  check_lines(event);
}

}  // namespace
}  // namespace tributary

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  tributary::run({reinterpret_cast<const char*>(data), size});
  return 0;
}
