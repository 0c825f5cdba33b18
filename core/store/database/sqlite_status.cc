#include "core/store/database/sqlite_status.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <cerrno>
#include <string>
#include <system_error>
#include <utility>

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

}  // namespace

Status sqlite_status(sqlite3* database, int code, std::string_view file, std::string_view doing) {
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

bool worth_retrying(const Status& status) {
  return status.code() == StatusCode::unavailable ||
         status.code() == StatusCode::resource_exhausted || status.code() == StatusCode::io_error;
}

}  // namespace tributary
