// Values of a watch that are filled at random and compared to the last bit, by the same list of
// fields that carries them (watch_fields.h): a new field is tested by being listed.
#pragma once

#include <bit>
#include <concepts>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

#include "core/watch/watch_fields.h"

namespace tributary::watch_testing {

class Filling {
 public:
  explicit Filling(std::uint64_t seed, std::size_t rows_max = 5) : random_(seed), rows_(rows_max) {}

  template <typename Value, typename Wire>
  void number(Value& value, Wire& /*wire*/) {
    if constexpr (std::floating_point<Value>) {
      value = one_in(4) ? std::numeric_limits<Value>::quiet_NaN()
                        : std::uniform_real_distribution<Value>(-1e9, 1e9)(random_);
    } else {
      value = static_cast<Value>(one_in(5) ? 0 : random_());
    }
  }
  template <typename Value, typename Wire>
  void choice(Value& value, Wire& /*wire*/, Value last) {
    value = static_cast<Value>(random_() % (static_cast<std::uint64_t>(last) + 1));
  }
  template <typename Wire>
  void text(std::string& value, Wire& /*wire*/, std::size_t bytes_max) {
    value.resize(one_in(8) ? bytes_max : random_() % std::min<std::size_t>(bytes_max, 24));
    for (char& c : value) c = static_cast<char>(one_in(9) ? 0 : random_());
  }
  template <typename Wire>
  void blob(std::string& value, Wire& wire, std::size_t bytes_max) {
    text(value, wire, std::min<std::size_t>(bytes_max, 5000));
  }
  template <typename Value, typename Wire>
  void list(std::vector<Value>& values, std::vector<std::unique_ptr<Wire>>& /*wire*/) {
    values.resize(one_in(4) ? 0 : random_() % (rows_ + 1));
    for (Value& value : values) fill(value, Wire());
  }
  template <typename Value, typename Pair>
  void maybe(std::optional<Value>& value, bool /*there*/, Pair pair) {
    if (one_in(2)) pair(value.emplace());
  }

  template <typename Value, typename Wire>
  void fill(Value& value, Wire wire) {
    pair_fields(*this, value, wire);
  }

 private:
  bool one_in(std::uint64_t n) { return random_() % n == 0; }

  std::mt19937_64 random_;
  std::size_t rows_;
};

// A zero's sign is not kept: it is left out of a message as any zero is.
class Dumping {
 public:
  template <typename Value, typename Wire>
  void number(const Value& value, Wire& /*wire*/) {
    if constexpr (std::floating_point<Value>) {
      words_.push_back(std::to_string(std::bit_cast<std::uint64_t>(value + 0.0)));
    } else {
      words_.push_back(std::to_string(value));
    }
  }
  template <typename Value, typename Wire>
  void choice(const Value& value, Wire& /*wire*/, Value /*last*/) {
    words_.push_back(std::to_string(static_cast<std::uint64_t>(value)));
  }
  template <typename Wire>
  void text(const std::string& value, Wire& /*wire*/, std::size_t /*bytes_max*/) {
    words_.push_back(value);
  }
  template <typename Wire>
  void blob(const std::string& value, Wire& /*wire*/, std::size_t /*bytes_max*/) {
    words_.push_back(value);
  }
  template <typename Value, typename Wire>
  void list(const std::vector<Value>& values, std::vector<std::unique_ptr<Wire>>& /*wire*/) {
    words_.push_back("list of " + std::to_string(values.size()));
    Wire wire;
    for (const Value& value : values) pair_fields(*this, value, wire);
  }
  template <typename Value, typename Pair>
  void maybe(const std::optional<Value>& value, bool /*there*/, Pair pair) {
    words_.push_back(value ? "there" : "not there");
    if (value) pair(*value);
  }
  std::vector<std::string> words() { return std::move(words_); }

 private:
  std::vector<std::string> words_;
};

inline RunChanges random_changes(std::uint64_t seed) {
  RunChanges changes;
  Filling(seed).fill(changes, watch::PortionT());
  return changes;
}
inline RoundDetail random_round(std::uint64_t seed) {
  RoundDetail detail;
  Filling(seed).fill(detail, watch::RoundDetailT());
  return detail;
}
inline std::vector<std::string> dump(const RunChanges& changes) {
  Dumping way;
  watch::PortionT wire;
  pair_fields(way, changes, wire);
  return way.words();
}
inline std::vector<std::string> dump(const RoundDetail& detail) {
  Dumping way;
  watch::RoundDetailT wire;
  pair_fields(way, detail, wire);
  return way.words();
}

}  // namespace tributary::watch_testing
