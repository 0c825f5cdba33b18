// Cuts blanks off a text, for parsers of lines.
#pragma once

#include <algorithm>
#include <string_view>

namespace tributary {

// Returns the part of `text` without the `blanks` at its beginning and its end. The result refers
// to the text.
constexpr std::string_view without_blanks(std::string_view text,
                                          std::string_view blanks = " \t\r") {
  text.remove_prefix(std::min(text.find_first_not_of(blanks), text.size()));
  return text.substr(0, text.find_last_not_of(blanks) + 1);
}

}  // namespace tributary
