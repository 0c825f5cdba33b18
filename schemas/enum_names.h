// The names of a schema's enum values, as JSON, settings and command lines use them. Names are
// those of the schema, in the order of their numbers.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace tributary::wire {

// Returns the names of consecutive values. `name` is the function that flatc generates, such as
// EnumNameCollective.
template <typename Enum>
std::vector<std::string_view> enum_names(Enum first, Enum last, const char* (*name)(Enum)) {
  std::vector<std::string_view> names;
  for (int value = static_cast<int>(first); value <= static_cast<int>(last); ++value) {
    names.emplace_back(name(static_cast<Enum>(value)));
  }
  return names;
}

// Returns the value at index `place` of a list that starts with `first`.
template <typename Enum>
constexpr Enum enum_value(Enum first, std::size_t place) {
  return static_cast<Enum>(static_cast<std::size_t>(first) + place);
}

}  // namespace tributary::wire
