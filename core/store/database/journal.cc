#include "core/store/database/journal.h"

#include <chrono>

namespace tributary {
namespace {

// A shorter chunk costs less in the log than a write and a sync of its own.
constexpr std::uint64_t kLargeChunkBytes = 16u << 10;

// Restored data must be durable before anything acts on it. An earlier process may have died before
// syncing its last write; the write is complete in the log and would be restored, but a power
// failure could still lose it. Syncing this transaction syncs those before it.
Status make_safe(Database& database, std::int64_t now_wall_ns, const BeginRun& begin_run) {
  {
    TRIBUTARY_ASSIGN(Transaction transaction, Transaction::begin(database));
    TRIBUTARY_TRY(database.run("INSERT INTO runs (began_wall_ns) VALUES (?)", now_wall_ns));
    TRIBUTARY_TRY(database.run("DELETE FROM runs WHERE run <= ?",
                               database.last_row_id() - static_cast<std::int64_t>(kRunsMax)));
    if (begin_run) TRIBUTARY_TRY(begin_run(database));
    TRIBUTARY_TRY(transaction.commit());
  }
  // Copies as far as readers allow; a remaining log does no harm.
  ignore_error(database.log().copy());
  return {};
}

}  // namespace

Result<OwnedDatabase> open_journal(const JournalOptions& options, const Migrations& migrations,
                                   DatabaseOptions settings, const BeginRun& begin_run) {
  OwnedDatabase owned;
  if (options.vfs.empty()) {
    TRIBUTARY_ASSIGN(FileLock lock, FileLock::take(options.path));
    owned.lock.emplace(std::move(lock));
  }
  settings.vfs = options.vfs;
  settings.sync = true;  // until the journal is safe
  settings.never_synced = options.never_synced;
  settings.exclusive = settings.exclusive || !options.vfs.empty();
  // A process with exclusive access does not release it soon, so waiting is useless.
  if (settings.exclusive) settings.busy_timeout_ms = 0;
  if (options.log_bytes != 0) settings.log_bytes = options.log_bytes;
  TRIBUTARY_ASSIGN(owned.database, Database::open(options.path, settings));
  TRIBUTARY_TRY(migrations.migrate(*owned.database));
  TRIBUTARY_TRY(make_safe(*owned.database, wall_time_ns(clock_of(options)), begin_run));
  if (options.never_synced) return owned;
  TRIBUTARY_TRY(owned.database->set_sync(options.durability == Durability::round));
  return owned;
}

std::uint64_t large_chunk_bytes(const JournalOptions& options) {
  return options.large_chunk_bytes != 0 ? options.large_chunk_bytes : kLargeChunkBytes;
}

const Clock& clock_of(const JournalOptions& options) {
  static const SystemClock system;
  return options.clock ? *options.clock : system;
}

std::int64_t wall_time_ns(const Clock& clock) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(clock.wall_time().time_since_epoch())
      .count();
}

}  // namespace tributary
