#include "core/base/nearest.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <vector>

namespace tributary {
namespace {

// Longer names are not compared, because the cost grows with the square of the length and the text
// may be hostile.
constexpr std::size_t kLengthMax = 64;

char folded(char c) {
  if (c >= 'A' && c <= 'Z') return static_cast<char>(c - 'A' + 'a');
  return c == '_' ? '-' : c;
}

// Optimal string alignment: Levenshtein distance with exchanges of neighbouring letters.
std::size_t edit_distance(std::string_view from, std::string_view to) {
  std::vector<std::size_t> before(to.size() + 1), above(to.size() + 1), row(to.size() + 1);
  for (std::size_t j = 0; j <= to.size(); ++j) above[j] = j;
  for (std::size_t i = 1; i <= from.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= to.size(); ++j) {
      const char a = folded(from[i - 1]);
      const char b = folded(to[j - 1]);
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, above[j - 1] + (a == b ? 0 : 1)});
      if (i > 1 && j > 1 && a == folded(to[j - 2]) && folded(from[i - 2]) == b) {
        row[j] = std::min(row[j], before[j - 2] + 1);
      }
    }
    std::swap(before, above);
    std::swap(above, row);
  }
  return above[to.size()];
}

}  // namespace

std::string_view nearest_name(std::string_view wrong, std::span<const std::string_view> known) {
  if (wrong.size() > kLengthMax) return {};
  std::string_view nearest;
  std::size_t nearest_distance = kLengthMax;
  for (std::string_view name : known) {
    if (name.size() > kLengthMax) continue;
    const std::size_t distance = edit_distance(wrong, name);
    const std::size_t distance_max = (std::max(wrong.size(), name.size()) + 1) / 3;
    if (distance <= distance_max && distance < nearest_distance) {
      nearest = name;
      nearest_distance = distance;
    }
  }
  return nearest;
}

std::string did_you_mean(std::string_view wrong, std::span<const std::string_view> known) {
  const std::string_view nearest = nearest_name(wrong, known);
  if (!nearest.empty()) return fmt::format("did you mean '{}'?", nearest);
  if (known.empty()) return "there are no names to choose from";
  return fmt::format("known: {}", fmt::join(known, ", "));
}

}  // namespace tributary
