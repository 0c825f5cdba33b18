#include "cli/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>

namespace tributary {

std::string count_text(std::uint64_t count) {
  std::string digits = fmt::format("{}", count);
  for (std::size_t place = digits.size(); place > 3;) {
    place -= 3;
    digits.insert(place, 1, ',');
  }
  return digits;
}

std::string rate_text(double bytes_per_s) {
  constexpr std::array<std::string_view, 5> kUnits = {"B/s", "kB/s", "MB/s", "GB/s", "TB/s"};
  std::size_t unit = 0;
  while (bytes_per_s >= 1000 && unit + 1 < kUnits.size()) {
    bytes_per_s /= 1000;
    ++unit;
  }
  return fmt::format("{:.3g} {}", bytes_per_s, kUnits[unit]);
}

std::string ratio_text(double ratio) { return fmt::format("{:.2f}:1", ratio); }

// Milliseconds below one second, so that small times keep their digits.
std::string seconds_text(double seconds) {
  if (seconds < 1) return fmt::format("{:.3g} ms", seconds * 1000);
  return fmt::format("{:.2f} s", seconds);
}

std::string error_text(double nmse) { return nmse == 0 ? "0" : fmt::format("{:.2e}", nmse); }

void Table::add(std::vector<std::string> row) {
  // Every row must have as many cells as the header.
  assert(row.size() == rows_.front().size());
  rows_.push_back(std::move(row));
}

// The first column is aligned left, because it has names; the others are aligned right. Widths are
// bytes, so cells must be ASCII to be aligned.
std::string Table::text() const {
  std::vector<std::size_t> widths(rows_.front().size(), 0);
  for (const auto& row : rows_) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string out;
  for (const auto& row : rows_) {
    std::string line = fmt::format("{:<{}}", row[0], widths[0]);
    for (std::size_t i = 1; i < row.size(); ++i) {
      line += fmt::format("  {:>{}}", row[i], widths[i]);
    }
    // No trailing blanks, so that outputs compare well.
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + "\n";
  }
  return out;
}

// Bytes above 0x7f stay, because they are UTF-8 in most texts.
std::string printable(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f) {
      out += fmt::format("\\x{:02x}", byte);
    } else {
      out += c;
    }
  }
  return out;
}

std::string first_line(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin == text.npos) return {};
  text = text.substr(begin, text.find_first_of("\r\n", begin) - begin);
  return printable(text.substr(0, text.find_last_not_of(" \t") + 1));
}

}  // namespace tributary
