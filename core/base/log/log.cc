#include "core/base/log/log.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>

#include "core/base/nearest.h"

namespace tributary {
namespace {

constexpr std::array<std::string_view, 5> kLevelNames = {"trace", "debug", "info", "warning",
                                                         "error"};

// Returns the length of the UTF-8 character at the start of `text`, or 0 if there is none. Overlong
// forms, surrogates and numbers above U+10FFFF are not characters.
std::size_t character_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<std::uint8_t>(text[i]); };
  const auto continues = [&](std::size_t i, std::uint8_t low = 0x80, std::uint8_t high = 0xbf) {
    return i < text.size() && byte(i) >= low && byte(i) <= high;
  };
  const std::uint8_t first = byte(0);
  if (first < 0x80) return 1;
  if (first < 0xc2) return 0;
  if (first < 0xe0) return continues(1) ? 2 : 0;
  if (first < 0xf0) {
    const std::uint8_t low = first == 0xe0 ? 0xa0 : 0x80;
    const std::uint8_t high = first == 0xed ? 0x9f : 0xbf;
    return continues(1, low, high) && continues(2) ? 3 : 0;
  }
  if (first > 0xf4) return 0;
  const std::uint8_t low = first == 0xf0 ? 0x90 : 0x80;
  const std::uint8_t high = first == 0xf4 ? 0x8f : 0xbf;
  return continues(1, low, high) && continues(2) && continues(3) ? 4 : 0;
}

// C0, DEL and C1. C1 contains two-byte forms of a terminal's escape sequences.
bool is_control(std::string_view character) {
  if (character.size() == 1) return character[0] < 0x20 || character[0] == 0x7f;
  return character[0] == '\xc2' && static_cast<std::uint8_t>(character[1]) < 0xa0;
}

// Appends `text` as the inside of a JSON string.
void append_escaped(std::string& out, std::string_view text) {
  while (!text.empty()) {
    const std::size_t length = character_length(text);
    const std::string_view character = text.substr(0, std::max<std::size_t>(length, 1));
    text.remove_prefix(character.size());
    if (length == 0) {
      // U+FFFD, one for every invalid byte.
      out += "\xef\xbf\xbd";
    } else if (is_control(character)) {
      fmt::format_to(std::back_inserter(out), "\\u{:04x}",
                     static_cast<std::uint8_t>(character.back()));
    } else {
      if (character == "\"" || character == "\\") out += '\\';
      out += character;
    }
  }
}

void append_quoted(std::string& out, std::string_view text) {
  out += '"';
  append_escaped(out, text);
  out += '"';
}

// Whether a value must be quoted so that a reader can split the line at spaces and '='.
bool needs_quotes(std::string_view text) {
  return text.empty() || std::any_of(text.begin(), text.end(), [](char c) {
           return c <= ' ' || c == '"' || c == '=' || c == '\\' || c == 0x7f;
         });
}

// The shortest text that parses to the same number.
std::string number_text(const LogValue::Value& value) {
  return std::visit([](auto v) { return fmt::format("{}", v); }, value);
}

void append_text_value(std::string& out, const LogValue::Value& value) {
  const auto* text = std::get_if<std::string_view>(&value);
  if (!text) {
    out += number_text(value);
  } else if (needs_quotes(*text)) {
    append_quoted(out, *text);
  } else {
    append_escaped(out, *text);
  }
}

void append_json_value(std::string& out, const LogValue::Value& value) {
  const auto* text = std::get_if<std::string_view>(&value);
  const auto* real = std::get_if<double>(&value);
  if (text) {
    append_quoted(out, *text);
  } else if (real && !std::isfinite(*real)) {
    append_quoted(out, number_text(value));
  } else {
    out += number_text(value);
  }
}

// ISO 8601 in UTC with milliseconds. Rounded down, so that an event never appears in the future.
std::string time_text(std::chrono::system_clock::time_point time) {
  using namespace std::chrono;
  const auto instant = floor<milliseconds>(time);
  const auto day = floor<days>(instant);
  const year_month_day date(day);
  const hh_mm_ss clock(instant - day);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                     clock.hours().count(), clock.minutes().count(), clock.seconds().count(),
                     clock.subseconds().count());
}

}  // namespace

std::string_view name(LogLevel level) { return kLevelNames[static_cast<std::size_t>(level)]; }

Result<LogLevel> parse_log_level(std::string_view text) {
  const auto* found = std::find(kLevelNames.begin(), kLevelNames.end(), text);
  if (found == kLevelNames.end()) {
    return Status(StatusCode::invalid_argument, {.what = "setting log.level",
                                                 .expected = "the name of a level",
                                                 .got = fmt::format("'{}'", text),
                                                 .remedy = did_you_mean(text, kLevelNames)});
  }
  return static_cast<LogLevel>(found - kLevelNames.begin());
}

std::string text_line(const LogEvent& event, std::chrono::system_clock::time_point time) {
  std::string line = fmt::format("{} {} ", time_text(time), name(event.level));
  append_escaped(line, event.component);
  line += ": ";
  append_escaped(line, event.message);
  for (const LogField& field : event.fields) {
    line += ' ';
    append_escaped(line, field.key);
    line += '=';
    append_text_value(line, field.value.get());
  }
  return line;
}

std::string json_line(const LogEvent& event, std::chrono::system_clock::time_point time) {
  std::string line =
      fmt::format(R"({{"time":"{}","level":"{}","component":)", time_text(time), name(event.level));
  append_quoted(line, event.component);
  line += R"(,"message":)";
  append_quoted(line, event.message);
  line += R"(,"fields":{)";
  for (std::size_t i = 0; i < event.fields.size(); ++i) {
    if (i > 0) line += ',';
    append_quoted(line, event.fields[i].key);
    line += ':';
    append_json_value(line, event.fields[i].value.get());
  }
  line += "}}";
  return line;
}

}  // namespace tributary
