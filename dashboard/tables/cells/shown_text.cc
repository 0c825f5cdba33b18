#include "dashboard/tables/cells/shown_text.h"

#include <algorithm>

namespace tributary::dashboard {
namespace {

constexpr char16_t kLineEndPicture = 0x23ce;  // both glyphs exist in most fonts
constexpr char16_t kTabPicture = 0x21e5;
// Longer tool tips would cover the screen.
constexpr qsizetype kTipCharactersMax = 2000;

// Direction marks and overrides. They could make a text read differently from its bytes.
bool turns_direction(char16_t c) {
  return c == 0x061c || c == 0x200e || c == 0x200f || (c >= 0x202a && c <= 0x202e) ||
         (c >= 0x2066 && c <= 0x2069);
}

// Unicode line breaks besides the line feed: next line, line separator, paragraph separator.
bool breaks_line(char16_t c) { return c == 0x0085 || c == 0x2028 || c == 0x2029; }

QChar harmless(QChar given) {
  const char16_t c = given.unicode();
  if (c == '\n') return {kLineEndPicture};
  if (c == '\t') return {kTabPicture};
  const bool control = c < 0x20 || (c >= 0x7f && c < 0xa0);
  const bool harmful = control || turns_direction(c) || breaks_line(c);
  return harmful ? QChar(QChar::ReplacementCharacter) : given;
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

char lowered(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

// std::string_view::compare() may return any value, not only -1, 0 and 1.
int sign_of(int difference) { return (difference > 0 ? 1 : 0) - (difference < 0 ? 1 : 0); }

// Removes the digits at the front of `text` and returns them without leading zeros.
std::string_view take_number(std::string_view& text) {
  const std::size_t end =
      static_cast<std::size_t>(std::find_if_not(text.begin(), text.end(), is_digit) - text.begin());
  std::string_view digits = text.substr(0, end);
  text.remove_prefix(end);
  digits.remove_prefix(std::min(digits.find_first_not_of('0'), digits.size()));
  return digits;
}

}  // namespace

QString whole_text(std::string_view text) {
  return QString::fromUtf8(text.data(), static_cast<qsizetype>(text.size()));
}

QString shown_text(std::string_view text) {
  // A UTF-8 character has at most four bytes, so this cut never removes anything that is shown.
  const std::size_t bytes_max = 4 * static_cast<std::size_t>(kShownCharactersMax + 1);
  QString shown = whole_text(text.substr(0, bytes_max));
  if (shown.size() > kShownCharactersMax) {
    // A surrogate pair must not be split in two.
    const bool halves = shown.at(kShownCharactersMax - 2).isHighSurrogate();
    shown.truncate(kShownCharactersMax - (halves ? 2 : 1));
    shown += QChar(0x2026);
  }
  std::transform(shown.begin(), shown.end(), shown.begin(), harmless);
  return shown;
}

QString tip_text(const QString& text) {
  if (text.isEmpty()) return {};
  return "<span>" + text.left(kTipCharactersMax).toHtmlEscaped() + "</span>";
}

int compare_naturally(std::string_view a, std::string_view b) {
  // Decides between texts that differ only in case or in leading zeros, so that the order is total.
  const int exactly = sign_of(a.compare(b));
  while (!a.empty() && !b.empty()) {
    if (is_digit(a.front()) && is_digit(b.front())) {
      const std::string_view first = take_number(a);
      const std::string_view second = take_number(b);
      if (first.size() != second.size()) return first.size() < second.size() ? -1 : 1;
      if (const int order = first.compare(second); order != 0) return sign_of(order);
      continue;
    }
    // Bytes compare as unsigned, so that UTF-8 sorts by code point.
    const auto first = static_cast<unsigned char>(lowered(a.front()));
    const auto second = static_cast<unsigned char>(lowered(b.front()));
    if (first != second) return first < second ? -1 : 1;
    a.remove_prefix(1);
    b.remove_prefix(1);
  }
  if (a.empty() != b.empty()) return a.empty() ? -1 : 1;
  return exactly;
}

}  // namespace tributary::dashboard
