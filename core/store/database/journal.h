// What the journals of coordinator and agent have in common: how they are opened, and by whom.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "core/base/clock.h"
#include "core/base/status.h"
#include "core/store/database/database.h"
#include "core/store/database/file_lock.h"
#include "core/store/database/migrations.h"

namespace tributary {

struct JournalOptions {
  std::string path;
  // A SQLite VFS that was registered under this name, such as a simulator's disk; empty: the
  // operating system's files, guarded by PATH.lock.
  std::string vfs = {};
  // False: what is stored survives a crash of this process, and not a power cut.
  bool sync = true;
  // For dates, which are for people and for retention; must outlive the journal. Null: the
  // system's.
  const Clock* clock = nullptr;
  // The write-ahead log's length (DatabaseOptions::log_bytes); 0: as measured to be good
  // (docs/journal.md).
  std::uint64_t log_bytes = 0;
};

// An open database that nobody else writes to.
struct OwnedDatabase {
  std::optional<FileLock> lock;  // let go after the database
  std::unique_ptr<Database> database;
};

// `settings`: those of this kind of journal; `options` go before. With a VFS of one's own nobody
// may look on, so that it needs no shared memory.
Result<OwnedDatabase> open_journal(const JournalOptions& options, const Schema& schema,
                                   DatabaseOptions settings);

const Clock& clock_of(const JournalOptions& options);
std::int64_t wall_time_ns(const Clock& clock);

// A table of both: when the journal was opened.
constexpr std::string_view kRunsTable = R"sql(
CREATE TABLE runs (
  run INTEGER PRIMARY KEY,
  began_wall_ns INTEGER NOT NULL
);
)sql";
constexpr std::uint64_t kRunsMax = 1000;

}  // namespace tributary
