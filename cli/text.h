// Formats numbers and tables for people.
//
// Pure functions, independent of the locale. Any thread may call them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tributary {

// Numbers with their unit, as the examples show. Rates use powers of 1000.
std::string count_text(std::uint64_t count);  // "16,777,216"
std::string rate_text(double bytes_per_s);    // "12.3 GB/s"
std::string ratio_text(double ratio);         // "3.98:1"
std::string seconds_text(double seconds);     // "31 ms"
std::string error_text(double nmse);          // "0", "1.2e-05"

// A text table. Columns are as wide as their contents; the first is aligned left, the others right.
class Table {
 public:
  explicit Table(std::vector<std::string> header) : rows_{std::move(header)} {}
  void add(std::vector<std::string> row);
  std::string text() const;

 private:
  std::vector<std::vector<std::string>> rows_;
};

// Returns the text on one line that is safe for a terminal: control characters become \xNN.
std::string printable(std::string_view text);

// Returns the first line that is not empty, to be quoted within another line.
std::string first_line(std::string_view text);

}  // namespace tributary
