// A thin layer over SQLite's C interface: handles are closed, failures are Status values, and
// statements are prepared once.
//
// A Database and everything created from it is used by one thread at a time. Errors: unavailable
// (locked), resource_exhausted (disk full, out of memory, value too long), corrupt_data, io_error
// (system, permissions), mismatch (a constraint), and invalid_argument (wrong SQL or use).
#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include "core/base/bytes/bytes.h"
#include "core/base/status.h"

struct sqlite3;
struct sqlite3_stmt;

namespace tributary {

// How a file is opened. The defaults suit a writer that shares the file with readers.
struct DatabaseOptions {
  std::string vfs = {};    // name of a registered SQLite VFS; empty: the operating system's
  bool read_only = false;  // never creates and never writes the file
  // Excludes all other connections, readers included. The VFS then needs no shared memory.
  bool exclusive = false;
  // False: a commit survives a crash of this process, but not a power failure.
  bool sync = true;
  std::uint32_t page_bytes = 8192;  // for a new file
  // Length at which the write-ahead log is copied into the file, or less where the disk has less
  // room (log_bytes_allowed()). The log can exceed it by one transaction, or for as long as a
  // reader's transaction lasts.
  std::uint64_t log_bytes = 16u << 20;
  std::uint32_t cache_bytes = 4u << 20;
  std::uint32_t busy_timeout_ms = 2'000;  // wait for locks of other connections
  // Bound on the length of texts and blobs, whatever the file claims.
  std::uint32_t value_bytes_max = 16u << 20;
};

// True if the same operation can succeed later, by itself or after space was freed: the file was
// locked, the disk full, or the operating system refused. False for corrupt data and wrong use.
bool worth_retrying(const Status& status);

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

// Receives the pages that are copied so far, and all pages; returns false to stop.
using CopyProgress = std::function<bool(std::uint64_t done, std::uint64_t total)>;

// A connection to one SQLite file.
class Database {
 public:
  // A new file, its log and their index can be read by their owner only. Fails with
  // invalid_argument (an empty path), not_found (unknown VFS), unsupported (no write-ahead log on
  // this file system), or as listed above.
  static Result<std::unique_ptr<Database>> open(const std::string& path,
                                                const DatabaseOptions& options);
  // An empty database without a file.
  static Result<std::unique_ptr<Database>> open_in_memory();
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  // Runs several statements without values.
  Status execute(const std::string& sql);

  // Runs a statement that returns no rows.
  template <typename... Values>
  Status run(std::string_view sql, const Values&... values) {
    TRIBUTARY_ASSIGN(Statement * statement, prepared(sql));
    TRIBUTARY_TRY(statement->bind(values...));
    const Result<bool> stepped = statement->step();
    statement->reset();
    return stepped.status();
  }
  // Starts a query. The same SQL text must not be started again while its rows are being read
  // (invalid_argument).
  template <typename... Values>
  Result<Rows> query(std::string_view sql, const Values&... values) {
    TRIBUTARY_ASSIGN(Statement * statement, prepared(sql));
    TRIBUTARY_TRY(statement->bind(values...));
    return Rows(*statement);
  }
  // Calls `row` with each row; stops at the first error.
  template <typename Function, typename... Values>
  Status each(std::string_view sql, Function&& row, const Values&... values) {
    TRIBUTARY_ASSIGN(Rows rows, query(sql, values...));
    for (;;) {
      TRIBUTARY_ASSIGN(const bool more, rows.next());
      if (!more) return {};
      TRIBUTARY_TRY(row(rows));
    }
  }
  // Reads the columns of the first row into `columns`; false if the query has no row.
  template <typename... Columns, typename... Values>
  Result<bool> first(std::string_view sql, std::tuple<Columns&...> columns,
                     const Values&... values) {
    TRIBUTARY_ASSIGN(Rows rows, query(sql, values...));
    TRIBUTARY_ASSIGN(const bool found, rows.next());
    if (found) {
      TRIBUTARY_TRY(std::apply([&](Columns&... each) { return rows.read(each...); }, columns));
    }
    return found;
  }

  std::int64_t last_row_id() const;
  std::uint64_t rows_changed() const;  // count of the last statement that changed any row

  // --- statistics ---
  const std::string& path() const { return path_; }
  std::uint64_t file_bytes();  // size of the database, including pages that are only in the log
  std::uint64_t free_bytes();  // part of file_bytes() in unused pages
  // Bytes written since the log was last reset.
  std::uint64_t log_bytes() const { return log_bytes_; }
  std::uint64_t bytes_written();  // bytes of pages that this connection has written to the log
  const Status& last_log_copy() const { return last_log_copy_; }

  // Copies the log into the file as far as readers allow.
  Status copy_log();
  // Copies the log if it is long. The next transaction does so otherwise, so a host calls this
  // while no commit is waiting. Returns whether the log was long: once copied, it is short again
  // after the next commit, unless a reader's transaction prevents it.
  bool copy_long_log();
  // Copies the log and frees its space: the log alone may have filled the disk. Fails with
  // unavailable if a transaction of another connection prevents it; the log is then copied as far
  // as possible.
  Status empty_log();
  // Limits the file to this number of pages, like a full disk. For tests.
  Status limit_pages(std::uint64_t pages_max);

 private:
  friend class Transaction;
  friend Status copy_database(Database& from, Database& to, const CopyProgress& progress);

  explicit Database(std::string path) : path_(std::move(path)) {}
  Status open_file(const DatabaseOptions& options);
  Status set_up(const DatabaseOptions& options);
  Status set_up_writing(const DatabaseOptions& options);
  Result<Statement*> prepared(std::string_view sql);
  Status error(std::string_view doing) const;
  Status copy_log(int manner);
  std::uint64_t free_space() const;
  Status check_space();
  void cut_log();
  Result<std::uint64_t> number(std::string_view sql);

  std::string path_;
  sqlite3* database_ = nullptr;
  std::map<std::string, std::unique_ptr<Statement>, std::less<>> statements_;
  std::uint64_t page_bytes_ = 0;
  std::uint64_t log_bytes_max_ = 0;
  std::uint64_t log_bytes_ = 0;
  std::int64_t data_version_ = 0;  // changes when another connection writes the file
  bool measures_space_ = false;    // a writer of the operating system's files
  bool rolled_back_ = false;       // the last transaction was rolled back
  Status last_log_copy_;
};

// A transaction: all or nothing. The destructor rolls back unless commit() succeeded.
class Transaction {
 public:
  static Result<Transaction> begin(Database& database);
  ~Transaction();
  Transaction(Transaction&& other) noexcept : database_(std::exchange(other.database_, nullptr)) {}
  Transaction& operator=(Transaction&&) = delete;

  // Durable if ok; after an error nothing of the transaction is stored. Fails with
  // resource_exhausted also if the disk would have too little room to copy the log into the file
  // afterwards: such a log could never be removed.
  Status commit();

 private:
  explicit Transaction(Database& database) : database_(&database) {}

  Database* database_;
};

}  // namespace tributary
