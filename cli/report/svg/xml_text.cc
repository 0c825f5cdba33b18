#include "cli/report/svg/xml_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace tributary::report {
namespace {

// U+FFFD in UTF-8.
constexpr std::string_view kReplacement = "\xef\xbf\xbd";

// In UTF-8 these bytes follow the first byte of a character.
bool is_continuation(char c) { return (static_cast<unsigned char>(c) & 0xc0u) == 0x80u; }

// Returns the length of the first character in bytes; 0 if XML cannot contain it.
std::size_t character_bytes(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text.front());
  if (lead < 0x80) return lead >= 0x20 || lead == '\t' || lead == '\n' ? 1 : 0;
  const std::size_t bytes = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || text.size() < bytes) return 0;
  std::uint32_t code = lead & (0xffu >> (bytes + 1));
  for (std::size_t i = 1; i < bytes; ++i) {
    if (!is_continuation(text[i])) return 0;
    code = code << 6 | (static_cast<unsigned char>(text[i]) & 0x3fu);
  }
  // Overlong encodings, surrogates and non-characters are not valid in XML.
  const bool overlong = code < (bytes == 2 ? 0x80u : bytes == 3 ? 0x800u : 0x10000u);
  const bool surrogate = code >= 0xd800 && code < 0xe000;
  if (overlong || surrogate || code > 0x10ffff || code == 0xfffe || code == 0xffff) return 0;
  return bytes;
}

std::string_view entity(char c) {
  switch (c) {
    case '&':
      return "&amp;";
    case '<':
      return "&lt;";
    case '>':
      return "&gt;";
    case '"':
      return "&quot;";
    case '\'':
      return "&#39;";
    default:
      return {};
  }
}

}  // namespace

// A byte that XML cannot contain becomes a replacement character, because one such byte makes a
// whole file unreadable.
std::string escaped(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const std::size_t bytes = character_bytes(text);
    if (bytes == 0) {
      out += kReplacement;
    } else if (const std::string_view known = entity(text.front()); !known.empty()) {
      out += known;
    } else {
      out += text.substr(0, bytes);
    }
    text.remove_prefix(std::max<std::size_t>(bytes, 1));
  }
  return out;
}

std::size_t characters(std::string_view text) {
  return text.size() - static_cast<std::size_t>(std::ranges::count_if(text, is_continuation));
}

// The ellipsis counts as one of the characters. The text is cut between characters, never inside
// one.
std::string shortened(std::string_view text, std::size_t characters_max) {
  if (characters_max == 0) return {};
  if (characters(text) <= characters_max) return std::string(text);
  std::size_t size = 0;
  for (std::size_t seen = 0; size < text.size(); ++size) {
    if (!is_continuation(text[size]) && ++seen == characters_max) break;
  }
  return std::string(text.substr(0, size)) + "\xe2\x80\xa6";
}

// Two decimals are a hundredth of a pixel. Shorter numbers keep the pictures small.
std::string coordinate(double value) {
  std::string text = fmt::format("{:.2f}", value);
  while (text.back() == '0') text.pop_back();
  if (text.back() == '.') text.pop_back();
  return text == "-0" ? "0" : text;
}

}  // namespace tributary::report
