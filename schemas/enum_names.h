// The values of a schema's enum as JSON, settings and command lines name them: by the names that
// the schema gives them.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace tributary::wire {

// The names of consecutive values. `name` is what flatc generates: EnumNameCollective.
template <typename Enum>
std::vector<std::string_view> enum_names(Enum first, Enum last, const char* (*name)(Enum)) {
  std::vector<std::string_view> names;
  for (int value = static_cast<int>(first); value <= static_cast<int>(last); ++value) {
    names.emplace_back(name(static_cast<Enum>(value)));
  }
  return names;
}

// The value whose name has this place in a list that begins with `first`.
template <typename Enum>
constexpr Enum enum_value(Enum first, std::size_t place) {
  return static_cast<Enum>(static_cast<std::size_t>(first) + place);
}

}  // namespace tributary::wire
