// Opening of journals, common to coordinator and agent.
//
// One process writes a journal at a time (PATH.lock); others may read the coordinator's journal
// meanwhile. A journal belongs to one thread.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/clock.h"
#include "core/base/status.h"
#include "core/store/database/database.h"
#include "core/store/database/file_lock.h"
#include "core/store/database/migrations.h"
#include "core/store/durability/durability.h"

namespace tributary {

// Options of both journals.
struct JournalOptions {
  std::string path;
  // Name of a registered SQLite VFS, such as a simulated disk. Empty: the operating system's files,
  // guarded by PATH.lock.
  std::string vfs = {};
  // Until when a power failure can undo stored records. With seconds_30 the owner of the journal
  // calls WriteAheadLog::sync(), or syncs the log's file, every 30 s.
  Durability durability = Durability::round;
  // Differs after each start of the machine. Empty: the system's (system_boot_id()).
  std::string boot_id = {};
  // Clock for dates, which are for people and for retention. It must outlive the journal. Null: the
  // system's clock.
  const Clock* clock = nullptr;
  // Length of the write-ahead log (DatabaseOptions::log_bytes); 0: the measured optimum
  // (docs/journal.md).
  std::uint64_t log_bytes = 0;
  // True: the file is never synced, so a power failure may damage it.
  bool never_synced = false;
  // Least bytes of a chunk that is stored beside the database (Blobs::LargeChunks); 0: the default.
  // A small value lets small models take the same path.
  std::uint64_t large_chunk_bytes = 0;
};

// The large chunks of a journal are in the file PATH-vectors.
constexpr std::string_view kVectorsEnd = "-vectors";
// JournalOptions::large_chunk_bytes, or its default.
std::uint64_t large_chunk_bytes(const JournalOptions& options);

// An open database of which this process is the only writer.
struct OwnedDatabase {
  std::optional<FileLock> lock;  // destroyed after the database
  std::unique_ptr<Database> database;
};

// The changes that a kind of journal adds to the transaction that begins its use, for example after
// a power failure. The last row of `runs` is that of this process.
using BeginRun = std::function<Status(Database& database)>;

// Locks, opens and migrates the file, and syncs what an earlier process may have left unsynced,
// with the changes of `begin_run`.
// `settings` are those of the kind of journal; `options` override them. With a VFS, access is
// exclusive, so the VFS needs no shared memory. Fails as FileLock::take(), Database::open() and
// Migrations::migrate() do.
Result<OwnedDatabase> open_journal(const JournalOptions& options, const Migrations& migrations,
                                   DatabaseOptions settings, const BeginRun& begin_run = {});

// The clock of the options, or the system's.
const Clock& clock_of(const JournalOptions& options);
// Wall-clock time in ns since 1970.
std::int64_t wall_time_ns(const Clock& clock);

// A table of both journals: the times at which the journal was opened.
constexpr std::string_view kRunsTable = R"sql(
CREATE TABLE runs (
  run INTEGER PRIMARY KEY,
  began_wall_ns INTEGER NOT NULL
);
)sql";
constexpr std::uint64_t kRunsMax = 1000;

}  // namespace tributary
