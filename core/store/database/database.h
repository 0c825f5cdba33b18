// A thin layer over SQLite's C interface: handles are closed, failures are Status values, and
// statements are prepared once.
//
// A Database and everything created from it is used by one thread at a time. Errors are those of
// sqlite_status.h.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "core/base/status.h"
#include "core/store/database/sqlite_status.h"
#include "core/store/database/statement.h"
#include "core/store/database/write_ahead_log.h"

struct sqlite3;

namespace tributary {

// How a file is opened. The defaults suit a writer that shares the file with readers.
struct DatabaseOptions {
  std::string vfs = {};    // name of a registered SQLite VFS; empty: the operating system's
  bool read_only = false;  // never creates and never writes the file
  // Excludes all other connections, readers included. The VFS then needs no shared memory.
  bool exclusive = false;
  // False: the log is only synced before it is copied into the file. A commit survives the end of
  // this process, and a power failure can undo the last commits, but damages nothing.
  bool sync = true;
  // True: nothing is ever synced, so a power failure may damage the file. Instead of `sync`.
  bool never_synced = false;
  std::uint32_t page_bytes = 8192;      // for a new file
  std::uint64_t log_bytes = 16u << 20;  // WriteAheadLog::Limits::bytes_max
  std::uint32_t cache_bytes = 4u << 20;
  std::uint32_t busy_timeout_ms = 2'000;  // wait for locks of other connections
  // Bound on the length of texts and blobs, whatever the file claims.
  std::uint32_t value_bytes_max = 16u << 20;
};

// Receives the pages that are copied so far, and all pages; returns false to stop.
using CopyProgress = std::function<bool(std::uint64_t done, std::uint64_t total)>;

// A connection to one SQLite file.
class Database {
 public:
  // A new file, its log and their index can be read by their owner only. Fails with
  // invalid_argument (an empty path), not_found (unknown VFS), unsupported (no write-ahead log on
  // this file system), or as SQLite does.
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
  std::string file() const;       // absolute, and of the file to which a link refers
  std::uint64_t file_bytes();     // size of the database, including pages that are only in the log
  std::uint64_t bytes_written();  // bytes of pages that this connection has written to the log

  // Changes DatabaseOptions::sync. Not within a transaction.
  Status set_sync(bool sync);

  // Requires a file that is opened for writing.
  WriteAheadLog& log() { return *log_; }

  // Limits the file to this number of pages, like a full disk. For tests.
  Status limit_pages(std::uint64_t pages_max);

 private:
  friend class Transaction;
  friend Status copy_database(Database& from, Database& to, const CopyProgress& progress,
                              const std::function<Status()>& first);

  explicit Database(std::string path) : path_(std::move(path)) {}
  Status open_file(const DatabaseOptions& options);
  Status set_up(const DatabaseOptions& options);
  Status set_up_writing(const DatabaseOptions& options);
  Result<Statement*> prepared(std::string_view sql);
  Status error(std::string_view doing) const;
  Result<std::uint64_t> number(std::string_view sql);

  std::string path_;
  sqlite3* database_ = nullptr;
  std::map<std::string, std::unique_ptr<Statement>, std::less<>> statements_;
  std::uint64_t page_bytes_ = 0;
  std::unique_ptr<WriteAheadLog> log_;  // null: not opened for writing
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
