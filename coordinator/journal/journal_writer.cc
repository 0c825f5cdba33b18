#include "coordinator/journal/journal_writer.h"

#include <string_view>
#include <utility>
#include <variant>

#include "coordinator/journal/round_pause.h"

namespace tributary {
namespace {

constexpr std::string_view kWriterComponent = "coordinator";
// A copy of the log that takes longer is reported.
constexpr std::chrono::seconds kSlowCopy{5};
// The rest of a copy is made at once if it takes no longer: the log is then copied completely.
constexpr double kShortCopyS = 0.05;
// Pages and indexes, beside what a round's rows contain.
constexpr double kRowsFactor = 2;
constexpr double kRowBytes = 150;

// Bytes of the rows of a round that no later round replaces.
double bytes_of_rows(const CommitRecord& commit) {
  const auto size = [](const SharedBytes& bytes) {
    return bytes ? static_cast<double>(bytes->size()) : 0;
  };
  double bytes = size(commit.round.plan) + size(commit.mechanisms) +
                 16 * static_cast<double>(commit.round.outcomes.size());
  for (const ContributorSetRecord& set : commit.round.contributor_sets) {
    bytes += kRowBytes + static_cast<double>(set.bits.size());
  }
  for (const AgentRoundRecord& report : commit.reports)
    bytes += kRowBytes + size(report.mechanisms);
  return kRowsFactor * (bytes + 3 * kRowBytes);
}

}  // namespace

Result<std::unique_ptr<JournalWriter>> JournalWriter::open(const CoordinatorJournalOptions& options,
                                                           Parts parts) {
  TRIBUTARY_ASSIGN(std::unique_ptr<CoordinatorJournal> journal, CoordinatorJournal::open(options));
  std::unique_ptr<JournalWriter> writer(
      new JournalWriter(std::move(journal), options, std::move(parts)));
  // Another file system has no second connection.
  if (!options.journal.vfs.empty()) return writer;
  TRIBUTARY_ASSIGN(const RecentRounds::Leftover left, writer->recent_.take_leftover());
  if (left == RecentRounds::Leftover::deleted) {
    writer->parts_.log.warning(
        kWriterComponent, "rounds beside the journal are lost: the machine was started anew", {});
  }
  TRIBUTARY_ASSIGN(writer->copier_,
                   LogCopier::open(writer->journal_->database().file(), writer->parts_.clock,
                                   [self = writer.get()](const LogCopier::Pass& pass) {
                                     self->parts_.on_thread([self, pass] { self->copied(pass); });
                                   }));
  writer->journal_->database().log().leave_to_another_connection();
  return writer;
}

JournalWriter::JournalWriter(std::unique_ptr<CoordinatorJournal> journal,
                             const CoordinatorJournalOptions& options, Parts parts)
    : parts_(std::move(parts)),
      durability_(options.journal.durability),
      journal_(std::move(journal)),
      recent_(*journal_, options),
      lag_(parts_.clock.now()) {}

// --- storing -----------------------------------------------------------------------------------

// Rounds that are beside the journal come before those that follow. A reader may keep the log from
// being copied for hours: then it grows. A small disk has no room for a second file.
bool JournalWriter::stores_beside() const {
  if (!recent_.empty()) return true;
  if (!copy_.running || copy_.blocked || durability_ == Durability::round) return false;
  const WriteAheadLog::Allowed most = journal_->database().log().allowed();
  return !most.limited_by_space &&
         journal_->database().log().bytes() >= most.bytes + most.bytes / 4;
}

Status JournalWriter::store(const CoordinatorRecord& record) {
  const auto* commit = std::get_if<CommitRecord>(&record);
  const bool beside = stores_beside() && store_beside(record).ok();
  if (!beside) {
    const std::uint64_t before = journal_->database().bytes_written();
    TRIBUTARY_TRY(move());
    TRIBUTARY_TRY(journal_->store(record));
    if (commit) last_.bytes = static_cast<double>(journal_->database().bytes_written() - before);
  }
  if (!commit) return {};
  const std::chrono::nanoseconds now = parts_.clock.now();
  if (beside) last_.bytes = bytes_of_rows(*commit);
  last_.since_last = now - std::exchange(last_.at, now);
  last_.is_new = true;
  lag_.stored(now, beside);
  return {};
}

// Jobs and epochs are durable at once, and everything before them with them, so they go to the
// journal. An error, as of a full disk, sends the record there as well.
Status JournalWriter::store_beside(const CoordinatorRecord& record) {
  if (const auto* commit = std::get_if<CommitRecord>(&record)) return recent_.store(*commit);
  if (const auto* agents = std::get_if<AgentRecords>(&record)) return recent_.store(*agents);
  return Status(StatusCode::unsupported, {.what = "a record beside the journal"});
}

Status JournalWriter::add(const TelemetryRows& rows) {
  if (stores_beside() && recent_.add(rows).ok()) return {};
  return journal_->add(rows);
}

Result<RoundLoaded> JournalWriter::load_round(const LoadRound& request) {
  if (!recent_.empty()) {
    TRIBUTARY_ASSIGN(RoundLoaded loaded, recent_.load_round(request));
    if (loaded.round) return loaded;
  }
  return journal_->load_round(request);
}

Status JournalWriter::move() {
  if (recent_.empty()) return {};
  TRIBUTARY_TRY(recent_.move());
  lag_.moved();
  return {};
}

Status JournalWriter::close() {
  TRIBUTARY_TRY(move());
  return journal_->close();
}

// --- the log -----------------------------------------------------------------------------------

std::chrono::nanoseconds JournalWriter::rest() {
  WriteAheadLog& log = journal_->database().log();
  const WriteAheadLog::Allowed most = log.allowed();
  if (!copy_.running) {
    // Records stay beside the journal if the move fails, and the next one tries again.
    ignore_error(move());
    if (copier_ && !most.limited_by_space) {
      if (log.bytes() >= most.bytes) {
        copy_.began_at = parts_.clock.now();
        start_copy();
      }
    } else if (log.copy_if_long()) {
      if (blockage_.look(parts_.clock.now(), true)) parts_.blocked(log.bytes());
    }
  }
  if (log.bytes() < most.bytes) blockage_.look(parts_.clock.now(), false);
  return pause();
}

void JournalWriter::start_copy() {
  copy_.log_bytes = journal_->database().log().bytes();
  if (copy_.log_bytes < copy_.before) copy_.before = 0;
  copy_.running = true;
  copier_->start();
}

// The log begins anew with the next commit if all of it is copied. Further passes copy the records
// that came meanwhile, and each is shorter than the one before.
void JournalWriter::copied(const LogCopier::Pass& pass) {
  copy_.running = false;
  WriteAheadLog& log = journal_->database().log();
  measure(pass);
  report(pass);
  copy_.blocked = !pass.status.ok() || pass.copied.bytes < copy_.log_bytes;
  const std::uint64_t left = log.bytes() > pass.copied.bytes ? log.bytes() - pass.copied.bytes : 0;
  copy_.before = pass.copied.bytes;
  if (copy_.blocked) {
    if (blockage_.look(parts_.clock.now(), pass.status.ok())) parts_.blocked(log.bytes());
  } else {
    if (static_cast<double>(left) > kShortCopyS * copy_.bytes_per_s) return start_copy();
    if (left > 0) ignore_error(log.copy());
    copy_.before = 0;  // the log begins anew
  }
  ignore_error(move());
}

void JournalWriter::measure(const LogCopier::Pass& pass) {
  if (!pass.status.ok() || pass.copied.bytes <= copy_.before || pass.took.count() <= 0) return;
  copy_.bytes_per_s = static_cast<double>(pass.copied.bytes - copy_.before) /
                      std::chrono::duration<double>(pass.took).count();
}

void JournalWriter::report(const LogCopier::Pass& pass) {
  if (pass.took <= kSlowCopy) return;
  parts_.log.warning(
      kWriterComponent, "the disk is slow: the journal's log is copied beside the rounds",
      {{"copy_s", std::chrono::duration_cast<std::chrono::seconds>(pass.took).count()},
       {"log_bytes", copy_.log_bytes},
       {"rounds_wait", durability_ == Durability::round}});
}

// Once for each round. A usual disk has copied the log before a round must wait; the rate of a
// short copy says little about the disk.
std::chrono::nanoseconds JournalWriter::pause() {
  if (!std::exchange(last_.is_new, false) || !copy_.running) return {};
  if (parts_.clock.now() - copy_.began_at < kSlowCopy) return {};
  double pressure = recent_.empty() ? 0 : 1;
  if (durability_ == Durability::round) {
    const auto most = static_cast<double>(journal_->database().log().allowed().bytes);
    pressure = static_cast<double>(journal_->database().log().bytes()) / most - 1;
  }
  return RoundPause{.bytes = last_.bytes,
                    .bytes_per_s = copy_.bytes_per_s,
                    .pressure = pressure,
                    .since_last = last_.since_last}
      .time();
}

}  // namespace tributary
