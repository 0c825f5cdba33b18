#include "core/store/database/write_ahead_log.h"

#include <fmt/format.h>
#include <sqlite3.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>

#include "core/store/database/free_space.h"
#include "core/store/database/sqlite_status.h"
#include "core/store/database/statement.h"

namespace tributary {
namespace {

constexpr std::uint64_t kLogHeaderBytes = 32;
constexpr std::uint64_t kFrameHeaderBytes = 24;  // of each page in the log

// The first value that a pragma returns.
template <typename Value>
Result<Value> value_of(sqlite3* connection, const std::string& path, const char* pragma) {
  sqlite3_stmt* raw = nullptr;
  const int code = sqlite3_prepare_v2(connection, pragma, -1, &raw, nullptr);
  if (code != SQLITE_OK) return sqlite_status(connection, code, path, pragma);
  Statement statement(raw, path);
  Value value{};
  TRIBUTARY_ASSIGN(const bool found, statement.step());
  if (found) {
    TRIBUTARY_TRY(statement.read(value));
  }
  return value;
}

}  // namespace

Result<std::unique_ptr<WriteAheadLog>> WriteAheadLog::open(sqlite3* connection, std::string path,
                                                           const Limits& limits) {
  std::unique_ptr<WriteAheadLog> log(new WriteAheadLog(connection, std::move(path), limits));
  TRIBUTARY_TRY(log->begin());
  return log;
}

Status WriteAheadLog::begin() {
  TRIBUTARY_ASSIGN(const std::string mode,
                   value_of<std::string>(connection_, path_, "PRAGMA journal_mode = WAL"));
  if (mode != "wal") {
    return Status(StatusCode::unsupported, {.what = fmt::format("database '{}'", path_),
                                            .expected = "a write-ahead log",
                                            .got = mode,
                                            .remedy = "store it on a local disk"});
  }
  const std::string limit = fmt::format("PRAGMA journal_size_limit = {}", 2 * limits_.bytes_max);
  TRIBUTARY_TRY(value_of<std::int64_t>(connection_, path_, limit.c_str()).status());
  TRIBUTARY_ASSIGN(page_bytes_, value_of<std::uint64_t>(connection_, path_, "PRAGMA page_size"));
  // Replaces SQLite's automatic checkpoint.
  sqlite3_wal_hook(
      connection_,
      [](void* self, sqlite3*, const char*, int frames) {
        auto* log = static_cast<WriteAheadLog*>(self);
        log->bytes_ = static_cast<std::uint64_t>(frames) * (log->page_bytes_ + kFrameHeaderBytes);
        return SQLITE_OK;
      },
      this);
  TRIBUTARY_ASSIGN(data_version_,
                   value_of<std::int64_t>(connection_, path_, "PRAGMA data_version"));
  return {};
}

Status WriteAheadLog::error(std::string_view doing) const {
  return sqlite_status(connection_, sqlite3_extended_errcode(connection_), path_, doing);
}

void WriteAheadLog::prepare() {
  if (!std::exchange(rolled_back_, false)) {
    if (!left_) copy_if_long();
    return;
  }
  if (limits_.measures_space) cut();
  ignore_error(empty());
}

Status WriteAheadLog::copy() { return copy(SQLITE_CHECKPOINT_PASSIVE); }

Result<WriteAheadLog::Copied> WriteAheadLog::copy_counted() {
  int in_log = 0;
  int copied = 0;
  errno = 0;
  const int code =
      sqlite3_wal_checkpoint_v2(connection_, nullptr, SQLITE_CHECKPOINT_PASSIVE, &in_log, &copied);
  if (code != SQLITE_OK) return error("copying the log into it");
  const std::uint64_t frame = page_bytes_ + kFrameHeaderBytes;
  return Copied{.log_bytes = static_cast<std::uint64_t>(std::max(in_log, 0)) * frame,
                .bytes = static_cast<std::uint64_t>(std::max(copied, 0)) * frame};
}

Status WriteAheadLog::copy(int manner) {
  errno = 0;
  const int code = sqlite3_wal_checkpoint_v2(connection_, nullptr, manner, nullptr, nullptr);
  return code == SQLITE_OK ? Status() : error("copying the log into it");
}

Status WriteAheadLog::empty() {
  TRIBUTARY_ASSIGN(const int wait_ms, value_of<int>(connection_, path_, "PRAGMA busy_timeout"));
  sqlite3_busy_timeout(connection_, 0);
  Status status = copy(SQLITE_CHECKPOINT_TRUNCATE);
  sqlite3_busy_timeout(connection_, wait_ms);
  return status;
}

Status WriteAheadLog::sync() {
  sqlite3_file* log = nullptr;
  sqlite3_file_control(connection_, "main", SQLITE_FCNTL_JOURNAL_POINTER, &log);
  if (!log || !log->pMethods) return {};  // nothing has been written
  errno = 0;
  const int code = log->pMethods->xSync(log, SQLITE_SYNC_NORMAL);
  return code == SQLITE_OK ? Status() : sqlite_status(connection_, code, path_, "syncing its log");
}

// SQLite puts the log beside the file to which a link refers.
std::string WriteAheadLog::file() const {
  return sqlite3_filename_wal(sqlite3_db_filename(connection_, "main"));
}

// A failed copy is no error of the commit before it, because committed data is safe in the log. The
// copy is repeated after the next commit. On a small disk the log gives its space back, too.
bool WriteAheadLog::copy_if_long() {
  const Allowed most = allowed();
  if (bytes_ == 0 || bytes_ < most.bytes) return false;
  ignore_error(most.limited_by_space ? empty() : copy());
  return true;
}

WriteAheadLog::Allowed WriteAheadLog::allowed() const {
  const std::uint64_t bytes = log_bytes_allowed(limits_.bytes_max, free_space());
  return {.bytes = bytes, .limited_by_space = bytes < limits_.bytes_max};
}

// It includes pages of the open transaction, and pages that are copied already.
std::uint64_t WriteAheadLog::file_size_of_log() const {
  sqlite3_file* log = nullptr;
  sqlite3_file_control(connection_, "main", SQLITE_FCNTL_JOURNAL_POINTER, &log);
  sqlite3_int64 size = 0;
  if (!log || !log->pMethods) return 0;
  if (log->pMethods->xFileSize(log, &size) != SQLITE_OK) return kSpaceUnknown / 2;
  return static_cast<std::uint64_t>(size);
}

std::uint64_t WriteAheadLog::free_space() const {
  return limits_.measures_space ? free_space_of(path_) : kSpaceUnknown;
}

// The file needs room for the pages beyond its end, which are in the log only. With each commit
// there is room for them, so the log can always be copied, unless others fill the disk.
Status WriteAheadLog::check_space() {
  if (!limits_.measures_space) return {};
  constexpr std::uint64_t kSmallFiles = 128u << 10;  // the log's index, and the commit's last page
  int cached = 0;  // bytes of pages in memory; the commit writes no more than these
  int highest = 0;
  sqlite3_db_status(connection_, SQLITE_DBSTATUS_CACHE_USED, &cached, &highest, 0);
  const std::uint64_t free_bytes = free_space();
  // Pages beyond the file's end are in the log or in memory. Usually there is room for all of both,
  // and the pages need not be counted.
  if (free_bytes >= file_size_of_log() + 2 * static_cast<std::uint64_t>(cached) + kSmallFiles) {
    return {};
  }
  struct stat about = {};
  if (::stat(path_.c_str(), &about) != 0) return {};
  const auto stored = static_cast<std::uint64_t>(about.st_size);
  TRIBUTARY_ASSIGN(const auto pages,
                   value_of<std::uint64_t>(connection_, path_, "PRAGMA page_count"));
  const std::uint64_t whole = pages * page_bytes_;
  const std::uint64_t needed = (whole > stored ? whole - stored : 0) + kSmallFiles;
  if (free_bytes >= needed + static_cast<std::uint64_t>(cached)) return {};
  errno = 0;
  const int code = sqlite3_db_cacheflush(connection_);  // the pages are in the log then
  if (code != SQLITE_OK && code != SQLITE_BUSY) {
    return sqlite_status(connection_, code, path_, "writing its log");
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
void WriteAheadLog::cut() {
  sqlite3_file* log = nullptr;
  sqlite3_file_control(connection_, "main", SQLITE_FCNTL_JOURNAL_POINTER, &log);
  if (!log || !log->pMethods) return;
  if (sqlite3_exec(connection_, "BEGIN IMMEDIATE", nullptr, nullptr, nullptr) != SQLITE_OK) return;
  const auto version = value_of<std::int64_t>(connection_, path_, "PRAGMA data_version");
  const auto end = static_cast<sqlite3_int64>(bytes_ + kLogHeaderBytes);
  sqlite3_int64 size = 0;
  if (version.ok() && *version == data_version_ &&
      log->pMethods->xFileSize(log, &size) == SQLITE_OK && size > end) {
    static_cast<void>(log->pMethods->xTruncate(log, end));
  }
  sqlite3_exec(connection_, "ROLLBACK", nullptr, nullptr, nullptr);
}

}  // namespace tributary
