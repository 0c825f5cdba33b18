#include "core/store/database/database_copy.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <cstdint>
#include <tuple>

namespace tributary {
namespace {

constexpr int kPagesAtATime = 1024;

// SQLite's copy of pages, which ends with the object.
class Backup {
 public:
  Backup(sqlite3* from, sqlite3* to) : backup_(sqlite3_backup_init(to, "main", from, "main")) {}
  ~Backup() { static_cast<void>(finish()); }
  Backup(const Backup&) = delete;
  Backup& operator=(const Backup&) = delete;

  bool begun() const { return backup_ != nullptr; }
  int step() { return sqlite3_backup_step(backup_, kPagesAtATime); }
  int finish() { return sqlite3_backup_finish(std::exchange(backup_, nullptr)); }
  std::uint64_t pages() const {
    return static_cast<std::uint64_t>(sqlite3_backup_pagecount(backup_));
  }
  std::uint64_t pages_left() const {
    return static_cast<std::uint64_t>(sqlite3_backup_remaining(backup_));
  }

 private:
  sqlite3_backup* backup_;
};

}  // namespace

// A write to `from` between two steps would begin the copy again, for ever beside a busy writer. So
// the steps share a read transaction, which sees none of the writes. The copy does not go through a
// log of its own: it would need the space twice.
Status copy_database(Database& from, Database& to, const CopyProgress& progress,
                     const std::function<Status()>& first) {
  std::int64_t tables = 0;
  TRIBUTARY_TRY(to.execute("PRAGMA journal_mode = MEMORY"));
  TRIBUTARY_TRY(from.execute("BEGIN"));
  Status copied = [&]() -> Status {
    TRIBUTARY_TRY(from.first("SELECT count(*) FROM sqlite_schema", std::tie(tables)).status());
    TRIBUTARY_TRY(first());
    Backup backup(from.database_, to.database_);
    if (!backup.begun()) return to.error("copying into it");
    int code = SQLITE_OK;
    while ((code = backup.step()) == SQLITE_OK) {
      if (progress(backup.pages() - backup.pages_left(), backup.pages())) continue;
      return Status(StatusCode::cancelled, {.what = fmt::format("copy of '{}'", from.path()),
                                            .expected = "all pages to be copied",
                                            .got = "a signal to stop",
                                            .remedy = {}});
    }
    if (code == SQLITE_DONE) return backup.finish() == SQLITE_OK ? Status() : to.error("copying");
    backup.finish();
    return to.error(fmt::format("copying '{}' into it", from.path()));
  }();
  ignore_error(from.execute("COMMIT"));
  return copied;
}

}  // namespace tributary
