// Fills answers with random values and compares them bit by bit. It uses flatc's description of the
// fields, so that new columns are tested without a change here.
#pragma once

#include <algorithm>
#include <concepts>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "core/watch/watch_message.h"
#include "schemas/fill_testing.h"

namespace tributary::watch_testing {

// Random numbers, and texts up to the longest size that a column allows.
class RandomValues {
 public:
  explicit RandomValues(std::uint64_t seed) : random_(seed) {}

  template <typename Number>
  Number number(const wire::Place& /*place*/) {
    if constexpr (std::floating_point<Number>) {
      return one_in(4) ? std::numeric_limits<Number>::quiet_NaN()
                       : std::uniform_real_distribution<Number>(-1e9, 1e9)(random_);
    } else if constexpr (std::is_enum_v<Number>) {
      return static_cast<Number>(random_() % (static_cast<unsigned>(last_value<Number>()) + 1u));
    } else {
      return static_cast<Number>(one_in(5) ? 0 : random_());
    }
  }
  std::string text(const wire::Place& place) {
    const std::size_t bytes_max = watch_text_bytes_max(place);
    std::string text(one_in(8) ? bytes_max : random_() % std::min<std::size_t>(bytes_max, 24), ' ');
    for (char& c : text) c = static_cast<char>(one_in(9) ? 0 : random_());
    return text;
  }
  std::size_t items(const wire::Place& place) {
    if (std::string_view(place.name) == "inputs") return random_() % 5000;
    return one_in(4) ? 0 : random_() % 6;
  }

 private:
  bool one_in(std::uint64_t n) { return random_() % n == 0; }

  std::mt19937_64 random_;
};

template <typename Table>
typename Table::NativeTableType random_table(std::uint64_t seed) {
  flatbuffers::FlatBufferBuilder builder;
  RandomValues values(seed);
  builder.Finish(
      wire::TableFiller(builder, values).template table<Table>({.name = Table::Traits::name}));
  typename Table::NativeTableType out;
  flatbuffers::GetRoot<Table>(builder.GetBufferPointer())->UnPackTo(&out);
  return out;
}

inline RunChanges random_changes(std::uint64_t seed) {
  return changes_of(random_table<watch::Portion>(seed));
}
inline RoundDetail random_round(std::uint64_t seed) {
  return random_table<rows::RoundDetail>(seed);
}

// The sign of a zero is lost, because a message omits zeros.
template <typename Table>
std::vector<std::string> dump_table(const typename Table::NativeTableType& table) {
  flatbuffers::FlatBufferBuilder builder;
  builder.Finish(Table::Pack(builder, &table));
  return wire::Dump::of(*flatbuffers::GetRoot<Table>(builder.GetBufferPointer()));
}

inline std::vector<std::string> dump(const RunChanges& changes) {
  return dump_table<watch::Portion>(portion_of(changes));
}
inline std::vector<std::string> dump(const RoundDetail& detail) {
  return dump_table<rows::RoundDetail>(detail);
}

}  // namespace tributary::watch_testing
