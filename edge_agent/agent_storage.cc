#include "edge_agent/agent_storage.h"

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "core/base/overloaded.h"
#include "schemas/frame.h"

namespace tributary {
namespace {

constexpr std::string_view kStorageComponent = "agent";

// The end of a job, and its number of rounds.
struct JobEnd {
  bool over = false;
  bool stopped = false;  // before its last round
  std::uint64_t rounds = 0;
};

JobEnd end_of(const AgentJobRecord& record) {
  JobEnd end{
      .over = record.state == wire::JobState::finished || record.state == wire::JobState::stopped,
      .stopped = record.state == wire::JobState::stopped};
  if (!record.definition) return end;
  const Result<const wire::Frame*> frame = open_frame(*record.definition);
  if (frame.ok() && (*frame)->message_as_Job()) end.rounds = (*frame)->message_as_Job()->rounds();
  return end;
}

}  // namespace

Result<std::unique_ptr<AgentStorage>> AgentStorage::open(const JournalOptions& options,
                                                         Parts parts) {
  Result<Contents> contents = read(options);
  if (contents.status().code() == StatusCode::corrupt_data) {
    TRIBUTARY_ASSIGN(const std::string aside, AgentJournal::set_aside(options.path));
    parts.log.error(kStorageComponent,
                    "the journal was damaged: a new one begins, the residual is lost",
                    {{"error", contents.status().text()}, {"set_aside", aside}});
    contents = read(options);
  }
  TRIBUTARY_TRY(contents.status());
  std::unique_ptr<AgentStorage> storage(new AgentStorage(*std::move(contents), std::move(parts)));
  if (options.durability == Durability::seconds_30)
    storage->sync_every(kDurableAfter, clock_of(options));
  return storage;
}

AgentStorage::~AgentStorage() {
  syncing_.reset();
  thread_.reset();
  if (const Status status = journal_->close(); !status.ok()) {
    parts_.log.warning(kStorageComponent,
                       "the journal cannot be closed: a power failure may undo "
                       "records, and the residual is dropped then",
                       {{"error", status.text()}});
  }
}

// The vectors first: a durable row refers to durable bytes, unless it was stored in between. If a
// sync fails, the system may have dropped what it could not write, but still shows it to readers:
// the copy of the log in the file is written and synced anew. Vectors that are lost in this way are
// found by their hashes.
void AgentStorage::sync_every(std::chrono::milliseconds time, const Clock& clock) {
  syncing_ = std::make_unique<PeriodicSync>(
      time, PeriodicSync::Parts{.sync = [vectors = journal_->vectors_path(),
                                         log = journal_->database().log().file()]() -> Status {
                                  TRIBUTARY_TRY(sync_file(vectors));
                                  return sync_file(log);
                                },
                                .failed =
                                    [this] {
                                      thread_->post([this] {
                                        ignore_error(journal_->database().log().copy());
                                      });
                                    },
                                .clock = clock,
                                .log = parts_.log,
                                .component = kStorageComponent});
}

Result<AgentStorage::Contents> AgentStorage::read(const JournalOptions& options) {
  Contents contents;
  TRIBUTARY_ASSIGN(contents.journal, AgentJournal::open(options));
  TRIBUTARY_ASSIGN(contents.state, contents.journal->restore());
  return contents;
}

AgentState AgentStorage::restore() {
  AgentState state = std::exchange(state_, {});
  const AgentJournal::Damage& damage = journal_->damage();
  if (const std::optional<double>& norm = journal_->residual_dropped()) {
    parts_.log.warning(kStorageComponent,
                       damage.residual_values == 0
                           ? "a power failure may have undone records: the residual is dropped"
                           : "a part of the residual is damaged: the residual is dropped",
                       {{"residual_norm", *norm}, {"values_damaged", damage.residual_values}});
  }
  if (damage.model) {
    parts_.log.warning(kStorageComponent,
                       "the stored model is damaged: the coordinator sends it again",
                       {{"file", journal_->vectors_path()}});
  }
  if (state.job) job_stored(*state.job);
  if (state.replica) {
    parts_.log.info(kStorageComponent, "replica restored",
                    {{"job", state.replica->job},
                     {"model_version", state.replica->model_version},
                     {"undecided_rounds", state.undecided.size()}});
  }
  return state;
}

void AgentStorage::store(StoreAgent& request) {
  thread_->post([this, request = std::move(request)]() mutable {
    Status status = journal_->store(request.record);
    if (status.ok()) stored(request.record);
    // Released before the event, so that the machine is the only owner and can modify the data in
    // place.
    request.record = {};
    parts_.post(Stored{.token = request.token, .status = std::move(status)});
  });
}

// Runs on the journal's thread, before the state machine receives Stored.
void AgentStorage::stored(const AgentRecordToStore& record) {
  std::visit(Overloaded{
                 [this](const ReplicaRecord& replica) {
                   parts_.log.info(kStorageComponent, "model stored",
                                   {{"model_version", replica.model_version},
                                    {"model_hash", fmt::format("{:016x}", replica.model_hash)},
                                    {"checkpoint", replica.model != nullptr},
                                    {"update_stored", replica.residual_stamp.updates_taken > 0},
                                    {"update_round", replica.residual_stamp.update_round},
                                    {"updates_taken", replica.residual_stamp.updates_taken}});
                 },
                 [this](const ContributionRecord& contribution) {
                   parts_.log.debug(kStorageComponent, "contribution stored",
                                    {{"round", contribution.id.round},
                                     {"attempt", contribution.id.attempt},
                                     {"buckets", contribution.parts.size()},
                                     {"update_stored", contribution.residual != nullptr},
                                     {"update_round", contribution.residual_stamp.update_round}});
                 },
                 [this](const AgentJobRecord& job) { job_stored(job); },
                 Ignored<DownloadRecord>(),
             },
             record);
}

void AgentStorage::job_stored(const AgentJobRecord& job) {
  const JobEnd end = end_of(job);
  parts_.definition_stored(job.definition);
  last_version_ = end.stopped ? 0 : end.rounds;
  job_over_ = end.over;
  parts_.log.info(kStorageComponent, "job",
                  {{"job", job.job}, {"state", wire::EnumNameJobState(job.state)}});
}

}  // namespace tributary
