#include "coordinator/coordinator_storage.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "coordinator/journal/log_blockage.h"
#include "core/store/coordinator/readable.h"

namespace tributary {
namespace {

constexpr std::string_view kStorageComponent = "coordinator";
// Readers of this project hold no transaction for more than about a second.
constexpr std::chrono::seconds kClosePatience{5};
constexpr std::chrono::milliseconds kCloseRetryEvery{20};

}  // namespace

Result<std::unique_ptr<CoordinatorStorage>> CoordinatorStorage::open(
    const CoordinatorJournalOptions& options, Parts parts) {
  std::unique_ptr<CoordinatorStorage> storage(new CoordinatorStorage(std::move(parts)));
  CoordinatorStorage* const self = storage.get();
  TRIBUTARY_ASSIGN(
      storage->writer_,
      JournalWriter::open(
          options,
          {.on_thread = [self](std::function<void()> work) { self->on_thread(std::move(work)); },
           .blocked = [self](std::uint64_t log_bytes) { self->blocked_bytes_ = log_bytes; },
           .clock = self->parts_.clock,
           .log = self->parts_.log}));
  if (options.journal.durability == Durability::seconds_30) storage->sync_every(kDurableAfter);
  return storage;
}

// If a sync fails, the system may have dropped what it could not write, but still shows it to
// readers: the copy in the file is written and synced anew.
void CoordinatorStorage::sync_every(std::chrono::milliseconds time) {
  syncing_ = std::make_unique<PeriodicSync>(
      time,
      PeriodicSync::Parts{.sync = [this, vectors = writer_->journal().vectors_path(),
                                   log = writer_->journal().database().log().file()]() -> Status {
                            const auto before = writer_->lag().before_sync(parts_.clock.now());
                            // First: a durable row refers to durable bytes, unless it was stored in
                            // between.
                            TRIBUTARY_TRY(sync_file(vectors));
                            TRIBUTARY_TRY(sync_file(log));
                            writer_->lag().synced(before);
                            return {};
                          },
                          .failed =
                              [this] {
                                on_thread([this] {
                                  ignore_error(writer_->journal().database().log().copy());
                                });
                              },
                          .clock = parts_.clock,
                          .log = parts_.log,
                          .component = kStorageComponent});
}

CoordinatorStorage::~CoordinatorStorage() {
  end_threads();
  if (!writer_) return;  // it could not be opened
  const auto give_up_at = parts_.clock.now() + kClosePatience;
  Status status = writer_->close();
  while (status.code() == StatusCode::unavailable && parts_.clock.now() < give_up_at) {
    std::this_thread::sleep_for(kCloseRetryEvery);
    status = writer_->close();
  }
  if (status.ok()) return;
  parts_.log.warning(kStorageComponent, "the journal's log remains: copy it with the journal",
                     {{"error", status.text()}});
}

Result<CoordinatorState> CoordinatorStorage::restore() {
  TRIBUTARY_ASSIGN(CoordinatorState state, writer_->journal().restore());
  for (const auto& damage : writer_->journal().residual_damage()) {
    parts_.log.warning(kStorageComponent,
                       "a part of the residual of the sums is damaged: it is zeros now",
                       {{"job", damage.job},
                        {"values_damaged", damage.values},
                        {"file", writer_->journal().vectors_path()}});
  }
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
    Status status = writer_->store(request.record);
    // The state machine logs a failure and stores again.
    if (status.ok()) log_stored(request.record);
    // The record shares the residual, which the next attempt would copy as long as the record
    // lives.
    request.record = CoordinatorRecord();
    parts_.post(Stored{.token = request.token, .status = std::move(status)});
    rest();
  });
}

// The work is dropped once the journal's thread has ended.
void CoordinatorStorage::on_thread(std::function<void()> work) {
  const std::lock_guard lock(posting_);
  if (!posting_ended_) thread_->post(std::move(work));
}

void CoordinatorStorage::wait(std::chrono::nanoseconds time) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, time, [this] { return ending_; });
}

void CoordinatorStorage::end_threads() {
  syncing_.reset();
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  changed_.notify_all();
  {
    const std::lock_guard lock(posting_);
    posting_ended_ = true;
  }
  thread_.reset();
  if (writer_) writer_->end_copies();
}

void CoordinatorStorage::load(const LoadRound& request) {
  thread_->post([this, request] {
    Result<RoundLoaded> loaded = writer_->load_round(request);
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

// The next round waits for this thread, if at all.
void CoordinatorStorage::rest() {
  const std::chrono::nanoseconds pause = writer_->rest();
  if (pause.count() > 0) wait(pause);
}

std::optional<std::chrono::nanoseconds> CoordinatorStorage::durability_lag() const {
  if (!syncing_) return std::nullopt;
  return writer_->lag().lag(parts_.clock.now());
}

void CoordinatorStorage::note(LogLevel level, std::string_view name, std::string text) {
  if (parts_.note) parts_.note({.level = level, .name = name, .text = std::move(text)});
}

void CoordinatorStorage::report_lag() {
  const std::optional<std::chrono::nanoseconds> lag = durability_lag();
  if (!lag) return;
  switch (lag_report_.look(parts_.clock.now(), *lag)) {
    case LagReport::Report::behind:
      return note(LogLevel::warning, "journal_behind", behind_text(*lag));
    case LagReport::Report::caught_up:
      return note(LogLevel::info, "journal_caught_up", caught_up_text(lag_report_.longest()));
    case LagReport::Report::none:
      return;
  }
}

void CoordinatorStorage::store_telemetry() {
  if (const std::uint64_t bytes = blocked_bytes_.exchange(0); bytes > 0) {
    note(LogLevel::warning, "journal_log_blocked",
         blockage_text(writer_->journal().database().path(), bytes));
  }
  report_lag();
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
  const Status status = writer_->add(rows);
  if (!status.ok() && !keeping_failed_) {
    parts_.log.warning(kStorageComponent, "events and metrics cannot be stored",
                       {{"error", status.text()}});
  }
  keeping_failed_ = !status.ok();
}

void CoordinatorStorage::end() {
  end_threads();
  if (keeping_) keep(under_way_);  // the thread ended before it wrote this batch
}

void CoordinatorStorage::keep_rest() { keep(telemetry_.take()); }

}  // namespace tributary
