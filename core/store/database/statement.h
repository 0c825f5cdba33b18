// A prepared SQL statement with its values, and the rows of a query.
//
// Failures are Status values (sqlite_status.h). Used by the thread of its Database.
#pragma once

#include <concepts>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "core/base/bytes/bytes.h"
#include "core/base/status.h"

struct sqlite3_stmt;

namespace tributary {

// One prepared statement with its values. A Database creates and owns it.
class Statement {
 public:
  Statement(sqlite3_stmt* statement, std::string_view file);
  ~Statement();
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;

  // Blobs and texts are borrowed until the next bind() or reset().
  template <typename... Values>
  Status bind(const Values&... values) {
    reset();
    int place = 0;
    Status status;
    // Stops at the first failure.
    static_cast<void>(((status = bind_at(++place, values)).ok() && ...));
    return status;
  }
  Result<bool> step();  // true: a row is available
  void reset();
  bool busy() const;  // a query is in progress

  template <typename... Values>
  Status read(Values&... values) {
    int column = 0;
    Status status;
    static_cast<void>(((status = read_at(column++, values)).ok() && ...));
    return status;
  }

 private:
  template <std::integral Number>
  Status bind_at(int place, Number value) {
    return bind_integer(place, static_cast<std::int64_t>(value));
  }
  template <typename Enum>
  requires std::is_enum_v<Enum> Status bind_at(int place, Enum value) {
    return bind_integer(place, static_cast<std::int64_t>(value));
  }
  Status bind_at(int place, double value);
  Status bind_at(int place, std::string_view value);
  Status bind_at(int place, const std::string& value) {
    return bind_at(place, std::string_view(value));
  }
  Status bind_at(int place, const char* value) { return bind_at(place, std::string_view(value)); }
  Status bind_at(int place, ByteSpan value);
  Status bind_at(int place, const Bytes& value) { return bind_at(place, ByteSpan(value)); }
  Status bind_at(int place, const std::shared_ptr<const Bytes>& value) {
    return value ? bind_at(place, ByteSpan(*value)) : bind_null(place);
  }
  template <typename Value>
  Status bind_at(int place, const std::optional<Value>& value) {
    return value ? bind_at(place, *value) : bind_null(place);
  }
  Status bind_integer(int place, std::int64_t value);
  Status bind_null(int place);
  Status bound(int place, int code);

  // The column must have the requested type (corrupt_data) and a value in its range.
  template <std::integral Number>
  Status read_at(int column, Number& value) {
    std::int64_t wide = 0;
    TRIBUTARY_TRY(read_integer(column, wide));
    value = static_cast<Number>(wide);
    // Unsigned 64-bit numbers are stored as signed numbers with the same bits.
    if (sizeof(Number) < 8 && static_cast<std::int64_t>(value) != wide) {
      return out_of_range(column, wide);
    }
    return {};
  }
  template <typename Enum>
  requires std::is_enum_v<Enum> Status read_at(int column, Enum& value) {
    std::underlying_type_t<Enum> number = 0;
    TRIBUTARY_TRY(read_at(column, number));
    value = static_cast<Enum>(number);
    return {};
  }
  Status read_at(int column, double& value);
  Status read_at(int column, std::string& value);
  Status read_at(int column, Bytes& value);
  Status read_at(int column, ByteSpan& value);                      // valid until the next step
  Status read_at(int column, std::shared_ptr<const Bytes>& value);  // null: NULL
  template <typename Value>
  Status read_at(int column, std::optional<Value>& value) {
    value.reset();
    if (is_null(column)) return {};
    return read_at(column, value.emplace());
  }
  Status read_integer(int column, std::int64_t& value);
  bool is_null(int column) const;
  Status expect_type(int column, int type, std::string_view type_name);
  Status out_of_range(int column, std::int64_t value) const;

  sqlite3_stmt* statement_;
  std::string_view file_;
};

// The rows of a query, one after another. The destructor ends the query.
class Rows {
 public:
  explicit Rows(Statement& statement) : statement_(&statement) {}
  ~Rows() {
    if (statement_) statement_->reset();
  }
  Rows(Rows&& other) noexcept : statement_(std::exchange(other.statement_, nullptr)) {}
  Rows& operator=(Rows&&) = delete;

  Result<bool> next() { return statement_->step(); }
  template <typename... Values>
  Status read(Values&... values) {
    return statement_->read(values...);
  }

 private:
  Statement* statement_;
};

}  // namespace tributary
