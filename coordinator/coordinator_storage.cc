#include "coordinator/coordinator_storage.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "core/store/coordinator/readable.h"

namespace tributary {
namespace {

constexpr std::string_view kStorageComponent = "coordinator";
// Readers of this project hold no transaction for more than about a second.
constexpr std::chrono::seconds kClosePatience{5};
constexpr std::chrono::milliseconds kCloseRetryEvery{20};
// A copy of the log that takes longer is reported: records wait for it.
constexpr std::chrono::seconds kSlowCopy{5};

}  // namespace

Result<std::unique_ptr<CoordinatorStorage>> CoordinatorStorage::open(
    const CoordinatorJournalOptions& options, Parts parts) {
  TRIBUTARY_ASSIGN(std::unique_ptr<CoordinatorJournal> journal, CoordinatorJournal::open(options));
  std::unique_ptr<CoordinatorStorage> storage(
      new CoordinatorStorage(std::move(journal), std::move(parts)));
  if (options.journal.durability == Durability::seconds_30) storage->sync_every(kDurableAfter);
  return storage;
}

// If a sync fails, the system may have dropped what it could not write, but still shows it to
// readers: the copy in the file is written and synced anew.
void CoordinatorStorage::sync_every(std::chrono::milliseconds time) {
  syncing_ = std::make_unique<PeriodicSync>(
      time, PeriodicSync::Parts{
                .sync = [log = journal_->database().log().file()] { return sync_file(log); },
                .failed =
                    [this] {
                      thread_->post([this] { ignore_error(journal_->database().log().copy()); });
                    },
                .clock = parts_.clock,
                .log = parts_.log,
                .component = kStorageComponent});
}

CoordinatorStorage::~CoordinatorStorage() {
  syncing_.reset();
  thread_.reset();
  const auto give_up_at = parts_.clock.now() + kClosePatience;
  Status status = journal_->close();
  while (status.code() == StatusCode::unavailable && parts_.clock.now() < give_up_at) {
    std::this_thread::sleep_for(kCloseRetryEvery);
    status = journal_->close();
  }
  if (status.ok()) return;
  parts_.log.warning(kStorageComponent, "the journal's log remains: copy it with the journal",
                     {{"error", status.text()}});
}

Result<CoordinatorState> CoordinatorStorage::restore() {
  TRIBUTARY_ASSIGN(CoordinatorState state, journal_->restore());
  for (const RestoredJob& job : state.jobs) {
    const std::uint64_t version =
        job.redo.empty() ? job.checkpoint.model_version : job.redo.back().round.id.round;
    parts_.log.info(kStorageComponent, "job restored",
                    {{"job", job.job.job}, {"rounds_committed", version}});
  }
  return state;
}

void CoordinatorStorage::store(StoreCoordinator& request) {
  thread_->post([this, request = std::move(request)]() mutable {
    Status status = journal_->store(request.record);
    // The state machine logs a failure and stores again.
    if (status.ok()) log_stored(request.record);
    // The record shares the residual, which the next attempt would copy as long as the record
    // lives.
    request.record = CoordinatorRecord();
    parts_.post(Stored{.token = request.token, .status = std::move(status)});
    rest();
  });
}

void CoordinatorStorage::load(const LoadRound& request) {
  thread_->post([this, request] {
    Result<RoundLoaded> loaded = journal_->load_round(request);
    if (loaded.ok()) return parts_.post(std::move(*loaded));
    parts_.log.error(kStorageComponent, "the journal cannot be read",
                     {{"error", loaded.status().text()}});
    parts_.post(
        RoundLoaded{.token = request.token, .status = loaded.status(), .round = {}, .epoch = {}});
  });
}

// Runs on the journal's thread, after the record is stored and before the state machine publishes
// it.
void CoordinatorStorage::log_stored(const CoordinatorRecord& record) {
  if (const auto* epoch = std::get_if<EpochRecord>(&record)) {
    parts_.log.info(kStorageComponent, "epoch begins",
                    {{"epoch", epoch->epoch}, {"agents", epoch->members.size()}});
  }
  const auto* commit = std::get_if<CommitRecord>(&record);
  if (!commit) return;
  std::uint32_t contributors = commit->round.members;
  for (const ContributorSetRecord& set : commit->round.contributor_sets) {
    contributors = std::min(contributors, set.contributors);
  }
  parts_.log.info(kStorageComponent, "round committed",
                  {{"round", commit->round.id.round},
                   {"epoch", commit->round.id.epoch},
                   {"attempt", commit->round.id.attempt},
                   {"collective", readable_plan(commit->round.plan).collectives.value_or("")},
                   {"contributors", contributors},
                   {"model_hash", fmt::format("{:016x}", commit->round.model_hash)},
                   {"bytes_up", commit->round.bytes_up},
                   {"bytes_down", commit->round.bytes_down},
                   {"checkpoint", commit->checkpoint.has_value()}});
}

// Copies a long log while no record waits. Records that come meanwhile wait for the copy.
void CoordinatorStorage::rest() {
  const std::chrono::nanoseconds began = parts_.clock.now();
  const std::uint64_t bytes = journal_->database().log().bytes();
  const bool was_long = journal_->rest();
  const std::chrono::nanoseconds now = parts_.clock.now();
  if (was_long && now - began > kSlowCopy) {
    parts_.log.warning(
        kStorageComponent, "the disk is slow: rounds waited while the journal's log was copied",
        {{"copy_s", std::chrono::duration_cast<std::chrono::seconds>(now - began).count()},
         {"log_bytes", bytes}});
  }
  if (!blockage_.look(now, was_long)) return;
  blocked_bytes_ = journal_->database().log().bytes();
}

void CoordinatorStorage::store_telemetry() {
  if (const std::uint64_t bytes = blocked_bytes_.exchange(0); bytes > 0 && parts_.note) {
    parts_.note({.level = LogLevel::warning,
                 .name = "journal_log_blocked",
                 .text = blockage_text(journal_->database().path(), bytes)});
  }
  if (keeping_) return;
  under_way_ = telemetry_.take();
  if (under_way_.size() == 0) return;
  keeping_ = true;
  thread_->post([this] {
    keep(under_way_);
    rest();
    keeping_ = false;
  });
}

// Rounds do not depend on telemetry: rows that cannot be stored are lost, with one log line per
// failure period.
void CoordinatorStorage::keep(const TelemetryRows& rows) {
  if (rows.size() == 0) return;
  const Status status = journal_->add(rows);
  if (!status.ok() && !keeping_failed_) {
    parts_.log.warning(kStorageComponent, "events and metrics cannot be stored",
                       {{"error", status.text()}});
  }
  keeping_failed_ = !status.ok();
}

void CoordinatorStorage::end() {
  syncing_.reset();
  thread_.reset();
  if (keeping_) keep(under_way_);  // the thread ended before it wrote this batch
}

void CoordinatorStorage::keep_rest() { keep(telemetry_.take()); }

}  // namespace tributary
