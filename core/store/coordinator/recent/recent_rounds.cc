#include "core/store/coordinator/recent/recent_rounds.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <tuple>
#include <utility>

#include "core/store/coordinator/coordinator_reading.h"
#include "core/store/durability/boot_id.h"

namespace tributary {
namespace {

// Its pages are written to its log and then to its file, both in memory.
constexpr std::uint64_t kRecentLogBytes = 4u << 20;

// A table of this journal alone: the machine's start in which it was written.
constexpr const char* kWrittenIn = "CREATE TABLE IF NOT EXISTS written_in (boot_id TEXT NOT NULL)";

}  // namespace

std::string path_of_recent_rounds(const Database& run) { return run.file() + "-recent"; }

RecentRounds::RecentRounds(CoordinatorJournal& run, const CoordinatorJournalOptions& options)
    : run_(run), options_(options) {
  if (options_.journal.boot_id.empty()) options_.journal.boot_id = system_boot_id();
  options_.journal.path = path_of_recent_rounds(run.database());
  options_.journal.durability = Durability::stop;
  options_.journal.never_synced = true;
  options_.journal.log_bytes = kRecentLogBytes;
}

// The file is deleted after the transaction of the other journal: a process that is killed in
// between moves the same rounds again.
Status RecentRounds::move() {
  if (!journal_) return {};
  TRIBUTARY_TRY(run_.take_over(*journal_));
  journal_.reset();
  remove_files();
  return {};
}

// Without an identity of the machine's start, a power failure cannot be excluded.
Result<RecentRounds::Leftover> RecentRounds::take_leftover() {
  std::error_code error;
  if (!std::filesystem::exists(options_.journal.path, error)) return Leftover::none;
  const Status moved = [&]() -> Status {
    TRIBUTARY_ASSIGN(journal_, CoordinatorJournal::open(options_));
    std::string boot_id;
    TRIBUTARY_TRY(
        journal_->database().first("SELECT boot_id FROM written_in", std::tie(boot_id)).status());
    if (boot_id.empty() || boot_id != options_.journal.boot_id) {
      return Status(
          StatusCode::mismatch,
          {.what = "the machine's start", .expected = options_.journal.boot_id, .got = boot_id});
    }
    return move();
  }();
  if (moved.ok()) return Leftover::moved;
  journal_.reset();
  if (worth_retrying(moved)) return moved;
  remove_files();
  return Leftover::deleted;
}

Status RecentRounds::open() {
  if (journal_) return {};
  Status opened = [&]() -> Status {
    TRIBUTARY_ASSIGN(journal_, CoordinatorJournal::open(options_));
    return note_boot_id();
  }();
  if (opened.ok()) return {};
  journal_.reset();
  remove_files();
  return opened;
}

Status RecentRounds::note_boot_id() {
  TRIBUTARY_TRY(journal_->database().execute(kWrittenIn));
  return journal_->database().run("INSERT INTO written_in (boot_id) VALUES (?)",
                                  options_.journal.boot_id);
}

// Rows of rounds refer to their job.
Status RecentRounds::open_for(std::uint64_t job) {
  TRIBUTARY_TRY(open());
  std::uint64_t rows = 0;
  TRIBUTARY_TRY(journal_->database()
                    .first("SELECT count(*) FROM jobs WHERE job = ?", std::tie(rows), job)
                    .status());
  if (rows != 0) return {};
  TRIBUTARY_ASSIGN(const std::vector<JobRecord> jobs, CoordinatorReading(run_.database()).jobs());
  const auto found = std::ranges::find(jobs, job, &JobRecord::job);
  return found == jobs.end() ? Status() : journal_->store(*found);
}

Status RecentRounds::store(const CommitRecord& record) {
  TRIBUTARY_TRY(open_for(record.round.id.job));
  return journal_->store(record);
}

Status RecentRounds::store(const AgentRecords& record) {
  TRIBUTARY_TRY(open());
  return journal_->store(record);
}

Status RecentRounds::add(const TelemetryRows& rows) {
  TRIBUTARY_TRY(open());
  return journal_->add(rows);
}

// The epoch is in the run's journal.
Result<RoundLoaded> RecentRounds::load_round(const LoadRound& request) {
  RoundLoaded loaded{.token = request.token, .status = {}, .round = {}, .epoch = {}};
  if (!journal_) return loaded;
  TRIBUTARY_ASSIGN(loaded, journal_->load_round(request));
  if (!loaded.round) return loaded;
  TRIBUTARY_ASSIGN(loaded.epoch,
                   CoordinatorReading(run_.database()).epoch(request.job, loaded.round->id.epoch));
  return loaded;
}

void RecentRounds::remove_files() {
  std::error_code ignored;
  for (const char* const end : {"", "-wal", "-shm", ".lock", kVectorsEnd.data()}) {
    std::filesystem::remove(options_.journal.path + end, ignored);
  }
}

}  // namespace tributary
