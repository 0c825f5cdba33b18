#include "core/store/database/database.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <system_error>
#include <utility>

#include "core/store/database/free_space.h"

namespace tributary {
namespace {

struct Meaning {
  StatusCode code;
  const char* remedy;
  const char* expected = "";
};

// Quotas and file size limits count as a full disk, because the operator's remedy is the same.
bool disk_is_full(int code, int system_error) {
  return code == SQLITE_FULL || system_error == ENOSPC || system_error == EDQUOT ||
         system_error == EFBIG;
}

// Maps SQLite's codes to ours and to a remedy.
Meaning meaning_of(int extended_code, int system_error) {
  const int code = extended_code & 0xff;
  const bool of_system = code == SQLITE_IOERR || code == SQLITE_FULL || code == SQLITE_CANTOPEN;
  if (of_system && disk_is_full(code, system_error)) {
    return {StatusCode::resource_exhausted, "free some space, or raise the quota or the limit"};
  }
  switch (code) {
    case SQLITE_NOMEM:
      return {StatusCode::resource_exhausted, "free some memory"};
    case SQLITE_TOOBIG:
      return {StatusCode::resource_exhausted, "store smaller values"};
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return {StatusCode::unavailable, "try again when the other process has released the file"};
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return {StatusCode::corrupt_data,
              "move the file away, and restore a copy or start with a new file",
              "an intact SQLite database"};
    case SQLITE_IOERR:
      return {StatusCode::io_error, "check the disk"};
    case SQLITE_READONLY:
    case SQLITE_PERM:
    case SQLITE_AUTH:
    case SQLITE_CANTOPEN:
      return {StatusCode::io_error, "check that the folder exists and the permissions in it"};
    case SQLITE_CONSTRAINT:
      return {StatusCode::mismatch, ""};
    default:
      return {StatusCode::invalid_argument, ""};
  }
}

Status status_of(sqlite3* database, int code, std::string_view file, std::string_view doing) {
  // SQLite keeps the system error of some calls, but not of a COMMIT; errno is the fallback.
  int system_error = database ? sqlite3_system_errno(database) : 0;
  if (system_error == 0) system_error = errno;
  const Meaning meaning = meaning_of(code, system_error);
  std::string got = database && sqlite3_extended_errcode(database) == code
                        ? sqlite3_errmsg(database)
                        : sqlite3_errstr(code);
  const int kind = code & 0xff;
  if (system_error != 0 && (kind == SQLITE_IOERR || kind == SQLITE_CANTOPEN)) {
    got += fmt::format(" ({})", std::generic_category().message(system_error));
  }
  // A file that is no database says so at the first statement, which is not of interest then.
  const bool readable = meaning.code != StatusCode::corrupt_data;
  return Status(meaning.code, {.what = readable ? fmt::format("database '{}', {}", file, doing)
                                                : fmt::format("database '{}'", file),
                               .expected = meaning.expected,
                               .got = std::move(got),
                               .remedy = meaning.remedy});
}

// The beginning of a statement, for errors.
std::string_view verb(const char* sql) {
  const std::string_view text = sql ? sql : "";
  return text.substr(0, text.find_first_of("(=", 0)).substr(0, 60);
}

// Debian's SQLite interprets names that begin with "file:" and some others, so a relative path gets
// a prefix.
std::string plain_name(const std::string& path, const std::string& vfs) {
  return vfs.empty() && !path.starts_with('/') ? "./" + path : path;
}

// Creates a new file that only its owner may read. SQLite would let everybody read it, and it gives
// the log and the index of the log the mode of the file. An existing file keeps its mode, and is
// not opened: closing it would release the locks of this process.
void create_private(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (file >= 0) ::close(file);  // SQLite reports every error
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

bool worth_retrying(const Status& status) {
  return status.code() == StatusCode::unavailable ||
         status.code() == StatusCode::resource_exhausted || status.code() == StatusCode::io_error;
}

// --- Statement ---------------------------------------------------------------------------------

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
  return status_of(sqlite3_db_handle(statement_), code, file_, verb(sqlite3_sql(statement_)));
}

Status Statement::bound(int place, int code) {
  if (code == SQLITE_OK) return {};
  return status_of(sqlite3_db_handle(statement_), code, file_,
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
    return status_of(sqlite3_db_handle(statement_), SQLITE_NOMEM, file_, "reading bytes");
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
  if (code != SQLITE_OK) return status_of(database->database_, code, database->path_, "opening it");
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
  if (!options.read_only && options.vfs.empty()) create_private(path_);
  errno = 0;
  int code = sqlite3_open_v2(name.c_str(), &database_, flags, vfs);
  if (code != SQLITE_OK) return status_of(database_, code, path_, "opening it");
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
  return code == SQLITE_OK ? Status() : status_of(database_, code, path_, "opening it");
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

// Opens the write-ahead log. Copying it is under our control (copy_long_log()).
Status Database::set_up_writing(const DatabaseOptions& options) {
  log_bytes_max_ = options.log_bytes;
  measures_space_ = options.vfs.empty();
  // Debian enables secure_delete, which overwrites all deleted data with zeros.
  TRIBUTARY_TRY(execute(
      fmt::format("PRAGMA page_size = {};"
                  "PRAGMA secure_delete = OFF;"
                  "PRAGMA synchronous = {};"
                  "PRAGMA journal_size_limit = {};",
                  options.page_bytes, options.sync ? "FULL" : "OFF", 2 * options.log_bytes)));
  std::string mode;
  TRIBUTARY_ASSIGN(const bool found, first("PRAGMA journal_mode = WAL", std::tie(mode)));
  if (!found || mode != "wal") {
    return Status(StatusCode::unsupported, {.what = fmt::format("database '{}'", path_),
                                            .expected = "a write-ahead log",
                                            .got = mode,
                                            .remedy = "store it on a local disk"});
  }
  // Replaces SQLite's automatic checkpoint, which counts pages and hides its errors.
  sqlite3_wal_hook(
      database_,
      [](void* self, sqlite3*, const char*, int frames) {
        auto* database = static_cast<Database*>(self);
        database->log_bytes_ = static_cast<std::uint64_t>(frames) * (database->page_bytes_ + 24);
        return SQLITE_OK;
      },
      this);
  return first("PRAGMA data_version", std::tie(data_version_)).status();
}

Status Database::error(std::string_view doing) const {
  return status_of(database_, sqlite3_extended_errcode(database_), path_, doing);
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

std::int64_t Database::last_row_id() const { return sqlite3_last_insert_rowid(database_); }

std::uint64_t Database::rows_changed() const {
  return static_cast<std::uint64_t>(sqlite3_changes64(database_));
}

// Statistics do not fail: an error counts as 0.
std::uint64_t Database::file_bytes() {
  const Result<std::uint64_t> pages = number("PRAGMA page_count");
  return pages.ok() ? *pages * page_bytes_ : 0;
}

std::uint64_t Database::free_bytes() {
  const Result<std::uint64_t> pages = number("PRAGMA freelist_count");
  return pages.ok() ? *pages * page_bytes_ : 0;
}

std::uint64_t Database::bytes_written() {
  int pages = 0;
  int highest = 0;
  sqlite3_db_status(database_, SQLITE_DBSTATUS_CACHE_WRITE, &pages, &highest, 0);
  return static_cast<std::uint64_t>(pages) * page_bytes_;
}

Status Database::copy_log() { return copy_log(SQLITE_CHECKPOINT_PASSIVE); }

// Without waiting for readers: a commit may wait for this.
Status Database::empty_log() {
  int wait_ms = 0;
  TRIBUTARY_TRY(first("PRAGMA busy_timeout", std::tie(wait_ms)).status());
  sqlite3_busy_timeout(database_, 0);
  Status status = copy_log(SQLITE_CHECKPOINT_TRUNCATE);
  sqlite3_busy_timeout(database_, wait_ms);
  return status;
}

Status Database::copy_log(int manner) {
  errno = 0;
  const int code = sqlite3_wal_checkpoint_v2(database_, nullptr, manner, nullptr, nullptr);
  last_log_copy_ = code == SQLITE_OK ? Status() : error("copying the log into it");
  return last_log_copy_;
}

// A failed copy is no error of the commit before it, because committed data is safe in the log. The
// copy is repeated after the next commit. On a small disk the log gives its space back, too.
bool Database::copy_long_log() {
  const std::uint64_t allowed = log_bytes_allowed(log_bytes_max_, free_space());
  if (log_bytes_ == 0 || log_bytes_ < allowed) return false;
  ignore_error(allowed < log_bytes_max_ ? empty_log() : copy_log());
  return true;
}

std::uint64_t Database::free_space() const {
  return measures_space_ ? free_space_of(path_) : kSpaceUnknown;
}

// The file needs room for the pages beyond its end, which are in the log only. With each commit
// there is room for them, so the log can always be copied, unless others fill the disk.
Status Database::check_space() {
  if (!measures_space_) return {};
  constexpr std::uint64_t kSmallFiles = 128u << 10;  // the log's index, and the commit's last page
  struct stat about = {};
  if (::stat(path_.c_str(), &about) != 0) return {};
  const auto stored = static_cast<std::uint64_t>(about.st_size);
  const std::uint64_t whole = file_bytes();
  const std::uint64_t needed = (whole > stored ? whole - stored : 0) + kSmallFiles;
  int cached = 0;  // bytes of pages in memory; the commit writes no more than these
  int highest = 0;
  sqlite3_db_status(database_, SQLITE_DBSTATUS_CACHE_USED, &cached, &highest, 0);
  if (free_space() >= needed + static_cast<std::uint64_t>(cached)) return {};
  errno = 0;
  const int code = sqlite3_db_cacheflush(database_);  // the pages are in the log then
  if (code != SQLITE_OK && code != SQLITE_BUSY) {
    return status_of(database_, code, path_, "writing its log");
  }
  const std::uint64_t left = free_space();
  if (left >= needed) return {};
  return Status(StatusCode::resource_exhausted,
                {.what = fmt::format("database '{}'", path_),
                 .expected = fmt::format("{} bytes free on its disk, to copy its log", needed),
                 .got = fmt::format("{} bytes", left),
                 .remedy = "free some space, or raise the quota or the limit"});
}

// Frees the end of the log, which belongs to no commit: a transaction that was rolled back may have
// filled the disk with it, and then the log could not be copied. The lock keeps other writers out;
// if another connection has written, the end of the log is not known.
void Database::cut_log() {
  sqlite3_file* log = nullptr;
  sqlite3_file_control(database_, "main", SQLITE_FCNTL_JOURNAL_POINTER, &log);
  if (!log || !log->pMethods || !run("BEGIN IMMEDIATE").ok()) return;
  std::int64_t version = 0;
  const Result<bool> read = first("PRAGMA data_version", std::tie(version));
  constexpr std::uint64_t kHeaderBytes = 32;
  const auto end = static_cast<sqlite3_int64>(log_bytes_ + kHeaderBytes);
  sqlite3_int64 size = 0;
  if (read.ok() && version == data_version_ && log->pMethods->xFileSize(log, &size) == SQLITE_OK &&
      size > end) {
    static_cast<void>(log->pMethods->xTruncate(log, end));
  }
  ignore_error(run("ROLLBACK"));
}

Status Database::limit_pages(std::uint64_t pages_max) {
  return number(fmt::format("PRAGMA max_page_count = {}", pages_max)).status();
}

// --- Transaction -------------------------------------------------------------------------------

Result<Transaction> Transaction::begin(Database& database) {
  if (std::exchange(database.rolled_back_, false)) {
    // A full disk may be the reason.
    if (database.measures_space_) database.cut_log();
    ignore_error(database.empty_log());
  } else {
    database.copy_long_log();
  }
  TRIBUTARY_TRY(database.run("BEGIN IMMEDIATE"));
  return Transaction(database);
}

// SQLite ends a transaction by itself after some errors, so ROLLBACK is sent only if one is open.
Transaction::~Transaction() {
  if (!database_) return;
  database_->rolled_back_ = true;
  if (sqlite3_get_autocommit(database_->database_) == 0) {
    ignore_error(database_->run("ROLLBACK"));
  }
}

Status Transaction::commit() {
  TRIBUTARY_TRY(database_->check_space());
  TRIBUTARY_TRY(database_->run("COMMIT"));
  database_ = nullptr;
  return {};
}

}  // namespace tributary
