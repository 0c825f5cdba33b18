#include "core/store/coordinator/run_copy.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <memory>
#include <optional>
#include <system_error>
#include <tuple>
#include <utility>
#include <vector>

#include "core/base/clock.h"
#include "core/store/coordinator/closed_mark.h"
#include "core/store/coordinator/coordinator_journal.h"
#include "core/store/coordinator/coordinator_schema.h"
#include "core/store/coordinator/recent/recent_rounds.h"
#include "core/store/coordinator/run_file.h"
#include "core/store/database/blobs.h"
#include "core/store/database/database_copy.h"
#include "core/store/database/file_lock.h"
#include "core/store/database/journal.h"
#include "core/store/database/vectors/vector_file.h"

namespace tributary {
namespace {

namespace fs = std::filesystem;

Status refused_copy(StatusCode code, const std::string& copy, std::string expected, std::string got,
                    std::string remedy) {
  return Status(code, {.what = fmt::format("copy '{}'", copy),
                       .expected = std::move(expected),
                       .got = std::move(got),
                       .remedy = std::move(remedy)});
}

// Files that SQLite keeps beside a database.
void remove_beside(const std::string& database) {
  std::error_code ignored;
  for (const char* const end : {"-wal", "-shm", "-journal"}) fs::remove(database + end, ignored);
}

void remove_database(const std::string& database) {
  std::error_code ignored;
  fs::remove(database, ignored);
  fs::remove(database + ".lock", ignored);
  fs::remove(database + std::string(kVectorsEnd), ignored);
  remove_beside(database);
}

// A new file beside the target, which takes its place in the end.
class TemporaryFile {
 public:
  explicit TemporaryFile(const std::string& target)
      : target_(target), name_(fmt::format("{}.{}.tmp", target, ::getpid())) {
    remove();
  }
  ~TemporaryFile() { remove(); }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  const std::string& name() const { return name_; }

  // A log of the earlier file would be taken for the new one's.
  Status take_place() {
    remove_beside(target_);
    std::error_code ignored;
    fs::remove(name_ + ".lock", ignored);
    if (::rename(name_.c_str(), target_.c_str()) == 0 && sync_folder()) return {};
    return refused_copy(StatusCode::io_error, target_, "a file that can be created",
                        std::generic_category().message(errno),
                        "check that the folder exists and the permissions in it");
  }

 private:
  void remove() {
    remove_database(name_);
    remove_database(name_ + "-recent");
  }

  bool sync_folder() const {
    const fs::path parent = fs::path(target_).parent_path();
    const int folder =
        ::open(parent.empty() ? "." : parent.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    const bool synced = folder >= 0 && ::fsync(folder) == 0;
    if (folder >= 0) ::close(folder);
    return synced;
  }

  std::string target_;
  std::string name_;
};

Status check_target(const RunCopyOptions& options) {
  std::error_code error;
  if (fs::equivalent(options.run_file, options.copy, error)) {
    return refused_copy(StatusCode::invalid_argument, options.copy, "another file than the run's",
                        "the same file", "name another file");
  }
  for (const std::string& file : {options.copy, options.copy + "-wal"}) {
    if (options.replace || !fs::exists(file, error)) continue;
    return refused_copy(StatusCode::already_exists, options.copy, "a new file",
                        fmt::format("'{}', which exists", file),
                        "name another file, or replace it with --force");
  }
  if (!fs::is_directory(options.copy, error)) return {};
  return refused_copy(StatusCode::invalid_argument, options.copy, "a file's name", "a folder",
                      "name a file in it");
}

// A daemon locks the file beside its journal. Without that file there is no daemon.
Result<std::optional<FileLock>> lock_replaced(const std::string& copy) {
  std::optional<FileLock> lock;
  std::error_code error;
  if (!fs::exists(copy + ".lock", error)) return lock;
  TRIBUTARY_ASSIGN(FileLock taken, FileLock::take(copy));
  lock.emplace(std::move(taken));
  return lock;
}

// The coordinator writes a slot again after two further rounds, so a busy one may be quicker.
constexpr int kReadsMax = 5;

// The large chunks of one moment, which is that of the transaction on `run`.
struct ChunksRead {
  std::vector<Blobs::LargeChunk> chunks;
  std::uint64_t bytes_missing = 0;
};

Result<ChunksRead> read_chunks(Database& run) {
  ChunksRead read;
  std::uint64_t slots = 0;
  TRIBUTARY_TRY(run.first("SELECT coalesce(sum(bytes), 0) FROM blob_chunks WHERE slot IS NOT NULL",
                          std::tie(slots))
                    .status());
  if (slots == 0) return read;
  const auto file = VectorFile::open_to_read(run.file() + std::string(kVectorsEnd));
  if (!file.ok()) {
    read.bytes_missing = slots;
    return read;
  }
  const auto keep = [&](Blobs::LargeChunk& chunk) -> Status {
    read.chunks.push_back(std::move(chunk));
    return {};
  };
  TRIBUTARY_ASSIGN(read.bytes_missing,
                   Blobs(run, {.file = file->get(), .bytes_min = 0}).each_large_chunk(keep));
  return read;
}

// Copies the database, and puts the chunks of the file beside it into the copy.
Status copy_all(Database& run, Database& copy, const CopyProgress& progress,
                std::uint64_t& bytes_missing) {
  std::uint32_t version = 0;
  TRIBUTARY_TRY(run.first("PRAGMA user_version", std::tie(version)).status());
  ChunksRead read;
  for (int reads = 1;; ++reads) {
    const auto first = [&]() -> Status {
      if (version < kSlotsSince) return {};
      TRIBUTARY_ASSIGN(read, read_chunks(run));
      if (read.bytes_missing == 0 || reads == kReadsMax) return {};
      return Status(StatusCode::unavailable, {.what = "slots that are written again"});
    };
    Status copied = copy_database(run, copy, progress, first);
    if (copied.ok()) break;
    if (copied.code() != StatusCode::unavailable || reads == kReadsMax) return copied;
  }
  bytes_missing += read.bytes_missing;
  TRIBUTARY_ASSIGN(Transaction transaction, Transaction::begin(copy));
  for (const Blobs::LargeChunk& chunk : read.chunks) TRIBUTARY_TRY(Blobs(copy).put_in_row(chunk));
  return transaction.commit();
}

Status copy_file(Database& from, const std::string& copy, const CopyProgress& progress,
                 std::uint64_t& bytes_missing) {
  std::uint32_t page_bytes = 0;
  TRIBUTARY_TRY(from.first("PRAGMA page_size", std::tie(page_bytes)).status());
  TRIBUTARY_ASSIGN(const std::unique_ptr<Database> database,
                   Database::open(copy, {.page_bytes = page_bytes}));
  TRIBUTARY_TRY(copy_all(from, *database, progress, bytes_missing));
  return database->log().empty();
}

// Moves the rounds beside the copy to it, as a coordinator does after it was killed. None is moved
// if the coordinator has moved them to its own journal between the copying of the two files.
// Opening a journal for writing notes that in `runs`; a copy does not.
Status take_rounds_beside(const std::string& copy, RunCopied& copied) {
  {
    TRIBUTARY_ASSIGN(const std::unique_ptr<Database> file, Database::open(copy, {}));
    TRIBUTARY_ASSIGN(const std::uint32_t version, coordinator_migrations().check_version(*file));
    TRIBUTARY_ASSIGN(copied.missing, missing_rounds(*file, version));
  }
  if (copied.missing.beside == 0 || copied.missing.beside_may_be_damaged) return {};
  const CoordinatorJournalOptions options = {
      .journal = {.path = copy, .durability = Durability::stop}};
  TRIBUTARY_ASSIGN(const std::unique_ptr<CoordinatorJournal> journal,
                   CoordinatorJournal::open(options));
  TRIBUTARY_ASSIGN(const auto taken, RecentRounds(*journal, options).take_leftover());
  if (taken == RecentRounds::Leftover::moved) {
    copied.rounds_beside = std::exchange(copied.missing.beside, 0);
  }
  TRIBUTARY_TRY(
      journal->database().execute("DELETE FROM runs WHERE run = (SELECT max(run) FROM runs)"));
  return journal->close();
}

// The rounds beside the journal are copied first: afterwards they may have been moved to it. The
// copy is closed when its content is complete.
Result<RunCopied> fill(RunFile& run, const std::string& copy, const CopyProgress& progress) {
  RunCopied copied;
  TRIBUTARY_ASSIGN(copied.missing, run.missing());
  const bool log_missing = copied.missing.log_missing;
  const bool has_beside = copied.missing.beside > 0 && !log_missing;
  if (has_beside) {
    TRIBUTARY_ASSIGN(const std::unique_ptr<Database> beside, open_rounds_beside(run.database()));
    TRIBUTARY_TRY(copy_file(*beside, copy + "-recent", progress, copied.residual_bytes_missing));
  }
  TRIBUTARY_TRY(copy_file(run.database(), copy, progress, copied.residual_bytes_missing));
  if (has_beside) TRIBUTARY_TRY(take_rounds_beside(copy, copied));
  copied.missing.log_missing = log_missing;

  TRIBUTARY_ASSIGN(const std::unique_ptr<Database> database, Database::open(copy, {}));
  std::uint32_t version = 0;
  for (const Result<bool>& read :
       {database->first("PRAGMA user_version", std::tie(version)),
        database->first("SELECT count(*) FROM jobs", std::tie(copied.jobs)),
        database->first("SELECT count(*) FROM rounds", std::tie(copied.rounds))}) {
    TRIBUTARY_TRY(read.status());
  }
  if (version >= kClosedMarkSince && !log_missing) {
    TRIBUTARY_TRY(mark_closed(*database, wall_time_ns(SystemClock())));
  }
  TRIBUTARY_TRY(database->log().empty());
  copied.bytes = database->file_bytes();
  return copied;
}

}  // namespace

Result<RunCopied> copy_run(const RunCopyOptions& options) {
  TRIBUTARY_ASSIGN(const std::unique_ptr<RunFile> run, RunFile::open(options.run_file));
  TRIBUTARY_TRY(check_target(options));
  TRIBUTARY_ASSIGN(const std::optional<FileLock> lock, lock_replaced(options.copy));
  TemporaryFile file(options.copy);
  const CopyProgress go_on = [](std::uint64_t, std::uint64_t) { return true; };
  TRIBUTARY_ASSIGN(RunCopied copied,
                   fill(*run, file.name(), options.progress ? options.progress : go_on));
  TRIBUTARY_TRY(file.take_place());
  return copied;
}

}  // namespace tributary
