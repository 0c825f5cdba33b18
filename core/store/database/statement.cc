#include "core/store/database/statement.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <cerrno>

#include "core/store/database/sqlite_status.h"

namespace tributary {
namespace {

// The beginning of a statement, for errors.
std::string_view verb(const char* sql) {
  const std::string_view text = sql ? sql : "";
  return text.substr(0, text.find_first_of("(=", 0)).substr(0, 60);
}

}  // namespace

Statement::Statement(sqlite3_stmt* statement, std::string_view file)
    : statement_(statement), file_(file) {}

Statement::~Statement() { sqlite3_finalize(statement_); }

bool Statement::busy() const { return sqlite3_stmt_busy(statement_) != 0; }

void Statement::reset() { sqlite3_reset(statement_); }

// errno is cleared first, so that a stale value is not reported with an error of SQLite's own.
Result<bool> Statement::step() {
  errno = 0;
  const int code = sqlite3_step(statement_);
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  return sqlite_status(sqlite3_db_handle(statement_), code, file_, verb(sqlite3_sql(statement_)));
}

Status Statement::bound(int place, int code) {
  if (code == SQLITE_OK) return {};
  return sqlite_status(sqlite3_db_handle(statement_), code, file_,
                       fmt::format("value {} of {}", place, verb(sqlite3_sql(statement_))));
}

Status Statement::bind_integer(int place, std::int64_t value) {
  return bound(place, sqlite3_bind_int64(statement_, place, value));
}

Status Statement::bind_null(int place) {
  return bound(place, sqlite3_bind_null(statement_, place));
}

Status Statement::bind_at(int place, double value) {
  // SQLite has no NaN and stores NULL, which most columns reject.
  return bound(place, sqlite3_bind_double(statement_, place, value));
}

// A null pointer would bind NULL and not an empty text.
Status Statement::bind_at(int place, std::string_view value) {
  const char* text = value.data() ? value.data() : "";
  return bound(place, sqlite3_bind_text64(statement_, place, text, value.size(), SQLITE_STATIC,
                                          SQLITE_UTF8));
}

// An empty blob has no address, so it is bound as a blob of zero zeros.
Status Statement::bind_at(int place, ByteSpan value) {
  if (value.empty()) return bound(place, sqlite3_bind_zeroblob(statement_, place, 0));
  return bound(place,
               sqlite3_bind_blob64(statement_, place, value.data(), value.size(), SQLITE_STATIC));
}

bool Statement::is_null(int column) const {
  return sqlite3_column_type(statement_, column) == SQLITE_NULL;
}

// SQLite would convert the value silently; a file with another type is damaged.
Status Statement::expect_type(int column, int type, std::string_view type_name) {
  if (sqlite3_column_type(statement_, column) == type) return {};
  const char* name = sqlite3_column_name(statement_, column);
  return Status(StatusCode::corrupt_data,
                {.what = fmt::format("database '{}', column {} of {}", file_, name ? name : "?",
                                     verb(sqlite3_sql(statement_))),
                 .expected = std::string(type_name),
                 .got = is_null(column) ? "nothing" : "another type",
                 .remedy = "move the file away, and restore a copy or start with a new file"});
}

Status Statement::out_of_range(int column, std::int64_t value) const {
  const char* name = sqlite3_column_name(statement_, column);
  return Status(StatusCode::corrupt_data,
                {.what = fmt::format("database '{}', column {} of {}", file_, name ? name : "?",
                                     verb(sqlite3_sql(statement_))),
                 .expected = "a number in its range",
                 .got = fmt::format("{}", value),
                 .remedy = "move the file away, and restore a copy or start with a new file"});
}

Status Statement::read_integer(int column, std::int64_t& value) {
  TRIBUTARY_TRY(expect_type(column, SQLITE_INTEGER, "a whole number"));
  value = sqlite3_column_int64(statement_, column);
  return {};
}

Status Statement::read_at(int column, double& value) {
  TRIBUTARY_TRY(expect_type(column, SQLITE_FLOAT, "a number"));
  value = sqlite3_column_double(statement_, column);
  return {};
}

Status Statement::read_at(int column, ByteSpan& value) {
  TRIBUTARY_TRY(expect_type(column, SQLITE_BLOB, "bytes"));
  const void* data = sqlite3_column_blob(statement_, column);
  const int size = sqlite3_column_bytes(statement_, column);
  if (!data && size > 0) {
    return sqlite_status(sqlite3_db_handle(statement_), SQLITE_NOMEM, file_, "reading bytes");
  }
  value = {static_cast<const std::uint8_t*>(data), data ? static_cast<std::size_t>(size) : 0};
  return {};
}

Status Statement::read_at(int column, Bytes& value) {
  ByteSpan bytes;
  TRIBUTARY_TRY(read_at(column, bytes));
  value.assign(bytes.begin(), bytes.end());
  return {};
}

Status Statement::read_at(int column, std::string& value) {
  TRIBUTARY_TRY(expect_type(column, SQLITE_TEXT, "a text"));
  const unsigned char* text = sqlite3_column_text(statement_, column);
  const int size = sqlite3_column_bytes(statement_, column);
  value.assign(reinterpret_cast<const char*>(text), text ? static_cast<std::size_t>(size) : 0);
  return {};
}

Status Statement::read_at(int column, std::shared_ptr<const Bytes>& value) {
  value = nullptr;
  if (is_null(column)) return {};
  auto bytes = std::make_shared<Bytes>();
  TRIBUTARY_TRY(read_at(column, *bytes));
  value = std::move(bytes);
  return {};
}

}  // namespace tributary
