#include "core/store/database/database.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <cerrno>
#include <utility>

#include "core/store/database/sqlite_status.h"
#include "core/store/database/vectors/private_file.h"

namespace tributary {
namespace {

// Debian's SQLite interprets names that begin with "file:" and some others, so a relative path gets
// a prefix.
std::string plain_name(const std::string& path, const std::string& vfs) {
  return vfs.empty() && !path.starts_with('/') ? "./" + path : path;
}

// A URI that opens only the file and ignores files beside it, for a folder that is not writable.
std::string address_of_unchanging(const std::string& path) {
  std::string address = "file:";
  for (const char c : path) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '/' || c == '.' || c == '-' || c == '_';
    if (plain) {
      address += c;
    } else {
      address += fmt::format("%{:02x}", static_cast<unsigned char>(c));
    }
  }
  return address + "?immutable=1";
}

}  // namespace

// --- Database ----------------------------------------------------------------------------------

Result<std::unique_ptr<Database>> Database::open(const std::string& path,
                                                 const DatabaseOptions& options) {
  if (path.empty()) {
    return Status(StatusCode::invalid_argument,
                  {.what = "path of a database", .expected = "a file's name", .got = "nothing"});
  }
  std::unique_ptr<Database> database(new Database(path));
  TRIBUTARY_TRY(database->open_file(options));
  TRIBUTARY_TRY(database->set_up(options));
  return database;
}

Result<std::unique_ptr<Database>> Database::open_in_memory() {
  std::unique_ptr<Database> database(new Database(":memory:"));
  const int code =
      sqlite3_open_v2(":memory:", &database->database_,
                      SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE | SQLITE_OPEN_READWRITE, nullptr);
  if (code != SQLITE_OK)
    return sqlite_status(database->database_, code, database->path_, "opening it");
  return database;
}

// Statements must be finalized before the connection is closed.
Database::~Database() {
  statements_.clear();
  sqlite3_close(database_);
}

// SQLite's own mutexes are off: a connection belongs to one thread at a time.
Status Database::open_file(const DatabaseOptions& options) {
  const char* vfs = options.vfs.empty() ? nullptr : options.vfs.c_str();
  if (vfs && !sqlite3_vfs_find(vfs)) {
    return Status(StatusCode::not_found, {.what = "SQLite VFS", .got = options.vfs});
  }
  const int flags =
      SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE |
      (options.read_only ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
  const std::string name = plain_name(path_, options.vfs);
  // SQLite would let everybody read it, and it gives the log and the index of the log the mode of
  // the file.
  if (!options.read_only && options.vfs.empty()) create_private(path_);
  errno = 0;
  int code = sqlite3_open_v2(name.c_str(), &database_, flags, vfs);
  if (code != SQLITE_OK) return sqlite_status(database_, code, path_, "opening it");
  if (!options.read_only || !options.vfs.empty()) return {};

  // Readers need a lock file beside the database. If it cannot be created and no log contains newer
  // data, the file can be read without locks.
  code = sqlite3_exec(database_, "SELECT count(*) FROM sqlite_schema", nullptr, nullptr, nullptr);
  if ((code & 0xff) != SQLITE_CANTOPEN && (code & 0xff) != SQLITE_READONLY) return {};
  int log_exists = 1;
  sqlite3_vfs* system = sqlite3_vfs_find(nullptr);
  system->xAccess(system, (name + "-wal").c_str(), SQLITE_ACCESS_EXISTS, &log_exists);
  if (log_exists != 0) return {};
  sqlite3_close(std::exchange(database_, nullptr));
  code = sqlite3_open_v2(address_of_unchanging(name).c_str(), &database_, flags | SQLITE_OPEN_URI,
                         nullptr);
  return code == SQLITE_OK ? Status() : sqlite_status(database_, code, path_, "opening it");
}

Status Database::set_up(const DatabaseOptions& options) {
  sqlite3_busy_timeout(database_, static_cast<int>(options.busy_timeout_ms));
  sqlite3_limit(database_, SQLITE_LIMIT_LENGTH, static_cast<int>(options.value_bytes_max));
  // A file may be hostile, so its schema must not execute anything.
  sqlite3_db_config(database_, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(database_, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  sqlite3_db_config(database_, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, nullptr);
  sqlite3_db_config(database_, SQLITE_DBCONFIG_DQS_DDL, 0, nullptr);
  sqlite3_db_config(database_, SQLITE_DBCONFIG_DQS_DML, 0, nullptr);
  TRIBUTARY_TRY(
      execute(fmt::format("PRAGMA locking_mode = {};"
                          "PRAGMA cell_size_check = ON;"
                          "PRAGMA foreign_keys = ON;"
                          "PRAGMA temp_store = MEMORY;"
                          "PRAGMA mmap_size = 0;"
                          "PRAGMA cache_size = -{};",
                          options.exclusive ? "EXCLUSIVE" : "NORMAL", options.cache_bytes / 1024)));
  if (options.read_only) {
    TRIBUTARY_TRY(execute("PRAGMA query_only = ON"));
  } else {
    TRIBUTARY_TRY(set_up_writing(options));
  }
  TRIBUTARY_ASSIGN(page_bytes_, number("PRAGMA page_size"));
  return {};
}

Status Database::set_up_writing(const DatabaseOptions& options) {
  // Debian enables secure_delete, which overwrites all deleted data with zeros.
  TRIBUTARY_TRY(
      execute(fmt::format("PRAGMA page_size = {};"
                          "PRAGMA secure_delete = OFF;",
                          options.page_bytes)));
  TRIBUTARY_TRY(options.never_synced ? execute("PRAGMA synchronous = OFF")
                                     : set_sync(options.sync));
  TRIBUTARY_ASSIGN(log_, WriteAheadLog::open(database_, path_,
                                             {.bytes_max = options.log_bytes,
                                              .measures_space = options.vfs.empty()}));
  return {};
}

Status Database::error(std::string_view doing) const {
  return sqlite_status(database_, sqlite3_extended_errcode(database_), path_, doing);
}

// Statements are cached by their text. A statement in use cannot be started again.
Result<Statement*> Database::prepared(std::string_view sql) {
  auto found = statements_.find(sql);
  if (found == statements_.end()) {
    sqlite3_stmt* raw = nullptr;
    const int code = sqlite3_prepare_v3(database_, sql.data(), static_cast<int>(sql.size()),
                                        SQLITE_PREPARE_PERSISTENT, &raw, nullptr);
    if (code != SQLITE_OK) return error(sql.substr(0, 60));
    auto statement = std::make_unique<Statement>(raw, path_);
    found = statements_.emplace(std::string(sql), std::move(statement)).first;
  }
  if (!found->second->busy()) return found->second.get();
  return Status(StatusCode::invalid_argument,
                {.what = std::string(sql.substr(0, 60)), .got = "a query that is already running"});
}

Status Database::execute(const std::string& sql) {
  errno = 0;
  const int code = sqlite3_exec(database_, sql.c_str(), nullptr, nullptr, nullptr);
  return code == SQLITE_OK ? Status() : error(std::string_view(sql).substr(0, 60));
}

Result<std::uint64_t> Database::number(std::string_view sql) {
  std::uint64_t value = 0;
  TRIBUTARY_ASSIGN(const bool found, first(sql, std::tie(value)));
  return found ? value : 0;
}

std::string Database::file() const { return sqlite3_db_filename(database_, "main"); }

std::int64_t Database::last_row_id() const { return sqlite3_last_insert_rowid(database_); }

std::uint64_t Database::rows_changed() const {
  return static_cast<std::uint64_t>(sqlite3_changes64(database_));
}

// Statistics do not fail: an error counts as 0.
std::uint64_t Database::file_bytes() {
  const Result<std::uint64_t> pages = number("PRAGMA page_count");
  return pages.ok() ? *pages * page_bytes_ : 0;
}

std::uint64_t Database::bytes_written() {
  int pages = 0;
  int highest = 0;
  sqlite3_db_status(database_, SQLITE_DBSTATUS_CACHE_WRITE, &pages, &highest, 0);
  return static_cast<std::uint64_t>(pages) * page_bytes_;
}

Status Database::set_sync(bool sync) {
  return execute(fmt::format("PRAGMA synchronous = {}", sync ? "FULL" : "NORMAL"));
}

Status Database::limit_pages(std::uint64_t pages_max) {
  return number(fmt::format("PRAGMA max_page_count = {}", pages_max)).status();
}

// --- Transaction -------------------------------------------------------------------------------

Result<Transaction> Transaction::begin(Database& database) {
  if (!database.log_) {
    return Status(StatusCode::invalid_argument,
                  {.what = fmt::format("transaction in database '{}'", database.path_),
                   .expected = "a database that is opened for writing",
                   .got = "one that is only read"});
  }
  database.log_->prepare();
  TRIBUTARY_TRY(database.run("BEGIN IMMEDIATE"));
  return Transaction(database);
}

// SQLite ends a transaction by itself after some errors, so ROLLBACK is sent only if one is open.
Transaction::~Transaction() {
  if (!database_) return;
  database_->log_->rolled_back();
  if (sqlite3_get_autocommit(database_->database_) == 0) {
    ignore_error(database_->run("ROLLBACK"));
  }
}

Status Transaction::commit() {
  TRIBUTARY_TRY(database_->log_->check_space());
  TRIBUTARY_TRY(database_->run("COMMIT"));
  database_ = nullptr;
  return {};
}

}  // namespace tributary
