#include "core/store/coordinator/coordinator_journal.h"

#include <fmt/format.h>

#include <utility>

#include "core/store/coordinator/closed_mark.h"
#include "core/store/coordinator/coordinator_reading.h"
#include "core/store/coordinator/coordinator_schema.h"
#include "core/store/coordinator/packed.h"
#include "core/store/coordinator/readable.h"
#include "core/store/database/vectors/vector_transaction.h"
#include "schemas/limits.h"

namespace tributary {
namespace {

ByteSpan bytes_of_floats(const FloatVector& floats) {
  return bytes_of(std::span<const float>(floats));
}

// Most rows are short. Payloads are deleted again some rounds later; pages that are overwritten in
// the log are not copied to the file. The log is copied between rounds.
const DatabaseOptions kCoordinatorDatabase = {.page_bytes = 8u << 10, .log_bytes = 64u << 20};

// Whether agents know the record's job or epoch by a number that must not mean anything else later.
bool gives_number(const CoordinatorRecord& record) {
  return std::holds_alternative<NewJobRecord>(record) ||
         std::holds_alternative<JobRecord>(record) || std::holds_alternative<EpochRecord>(record);
}

// Agent numbers that are kept in memory; beyond that the cache starts again.
constexpr std::size_t kAgentNumbersMax = wire::kMembersMax;

}  // namespace

Result<std::unique_ptr<CoordinatorJournal>> CoordinatorJournal::open(
    const CoordinatorJournalOptions& options) {
  TRIBUTARY_ASSIGN(OwnedDatabase owned,
                   open_journal(options.journal, coordinator_migrations(), kCoordinatorDatabase));
  std::unique_ptr<CoordinatorJournal> journal(new CoordinatorJournal(std::move(owned), options));
  TRIBUTARY_TRY(journal->residuals_.open());
  // No agent is connected yet.
  TRIBUTARY_TRY(journal->in_transaction([&] {
    return journal->database().run("UPDATE agents SET connected = 0 WHERE connected != 0");
  }));
  return journal;
}

CoordinatorJournal::CoordinatorJournal(OwnedDatabase owned,
                                       const CoordinatorJournalOptions& options)
    : owned_(std::move(owned)),
      blobs_(database()),
      residuals_(database(), options.journal),
      clock_(clock_of(options.journal)),
      history_rounds_max_(options.history_rounds_max),
      durability_(options.journal.durability),
      never_synced_(options.journal.never_synced),
      // The expressions estimate a row's bytes: a constant for numbers and overhead, plus the
      // lengths of texts and blobs.
      tables_{BoundedTable("agent_rounds", "agent_round", "100 + coalesce(length(mechanisms), 0)",
                           options.retention.agent_rounds),
              BoundedTable("events", "event",
                           "40 + length(name) + length(reason) + length(source) + length(text)",
                           options.retention.events),
              BoundedTable("metrics", "metric", "48 + 2 * length(name) + length(agent_id)",
                           options.retention.metrics),
              BoundedTable("link_samples", "link_sample", "56 + length(from_id) + length(to_id)",
                           options.retention.link_samples)} {}

// Runs `function` in a transaction. A failure clears the caches, which may describe rows that were
// rolled back.
Status CoordinatorJournal::in_transaction(const std::function<Status()>& function) {
  const bool sync_vectors = durability_ == Durability::round && !never_synced_;
  Status status = tributary::in_transaction(database(), residuals_.file(), sync_vectors, function);
  if (!status.ok()) {
    for (BoundedTable& table : tables_) table.forget();
    agent_numbers_.clear();
    epochs_looked_at_.clear();
  }
  return status;
}

// The mark is the last page of the log, so the file has it only with everything before it.
Status CoordinatorJournal::close() {
  if (!closed_) {
    const auto end = [&]() -> Status {
      TRIBUTARY_TRY(residuals_.move_to_rows());
      return mark_closed(database(), now_wall_ns());
    };
    TRIBUTARY_TRY(in_transaction(end));
    closed_ = true;
  }
  TRIBUTARY_TRY(database().log().empty());
  residuals_.delete_unused();
  return {};
}

// The vectors first: a durable row refers to durable bytes, unless it was stored in between.
Status CoordinatorJournal::sync() {
  TRIBUTARY_TRY(residuals_.sync());
  return database().log().sync();
}

Status CoordinatorJournal::store(const CoordinatorRecord& record) {
  TRIBUTARY_TRY(in_transaction(
      [&] { return std::visit([&](const auto& kind) { return put(kind); }, record); }));
  if (durability_ == Durability::round || never_synced_ || !gives_number(record)) return {};
  return sync();
}

// --- jobs --------------------------------------------------------------------------------------

// Job and first checkpoint are in one transaction, so a job always has a model.
Status CoordinatorJournal::put(const NewJobRecord& record) {
  TRIBUTARY_TRY(put(record.job));
  return put(record.checkpoint);
}

// A job's submission date and last epoch survive an update of its definition.
Status CoordinatorJournal::put(const JobRecord& record) {
  return database().run(
      "INSERT INTO jobs (job, name, revision, change, state, state_reason, definition, policy, "
      "submitted_wall_ns) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (job) DO UPDATE SET "
      "name = excluded.name, revision = excluded.revision, change = excluded.change, "
      "state = excluded.state, state_reason = excluded.state_reason, "
      "definition = excluded.definition, policy = excluded.policy",
      record.job, readable_job_name(record.definition), record.revision, record.change,
      record.state, record.state_reason, record.definition, encode(record.policy), now_wall_ns());
}

// A job has one checkpoint. A restart does not need the redo up to it, so what no agent may need
// either is deleted in the same transaction.
Status CoordinatorJournal::put(const CheckpointRecord& record) {
  std::optional<BlobId> model;
  std::optional<BlobId> rule_state;
  TRIBUTARY_TRY(database()
                    .first("SELECT model, rule_state FROM checkpoints WHERE job = ?",
                           std::tie(model, rule_state), record.job)
                    .status());
  std::vector<BlobId> old_blobs;
  if (model) old_blobs.push_back(*model);
  if (rule_state) old_blobs.push_back(*rule_state);
  const std::uint64_t dropped = record.redo_from > 0 ? record.redo_from - 1 : record.model_version;
  TRIBUTARY_TRY(drop_redo_up_to(record.job, dropped, old_blobs));

  std::vector<NewBlob> values;
  if (record.model) values.push_back({.bytes = bytes_of_floats(*record.model)});
  if (record.rule_state) values.push_back({.bytes = *record.rule_state});
  TRIBUTARY_ASSIGN(const std::vector<BlobId> blobs, blobs_.exchange(old_blobs, values));
  model = record.model ? std::optional(blobs.front()) : std::nullopt;
  rule_state = record.rule_state ? std::optional(blobs.back()) : std::nullopt;
  return database().run(
      "REPLACE INTO checkpoints (job, model_version, model_hash, model, rule_state, "
      "stored_wall_ns) VALUES (?, ?, ?, ?, ?, ?)",
      record.job, record.model_version, record.model_hash, model, rule_state, now_wall_ns());
}

// Collects the payloads' blobs instead of deleting them: the new checkpoint overwrites their pages.
Status CoordinatorJournal::drop_redo_up_to(std::uint64_t job, std::uint64_t round,
                                           std::vector<BlobId>& dropped) {
  std::vector<std::int64_t> rows;
  const auto take = [&](Rows& row) -> Status {
    std::int64_t round_row = 0;
    std::optional<BlobId> payload;
    TRIBUTARY_TRY(row.read(round_row, payload));
    if (rows.empty() || rows.back() != round_row) rows.push_back(round_row);
    if (payload) dropped.push_back(*payload);
    return {};
  };
  TRIBUTARY_TRY(
      database().each("SELECT redo.round_row, payload FROM redo JOIN rounds USING (round_row) "
                      "WHERE job = ? AND round <= ? ORDER BY redo.round_row",
                      take, job, round));
  for (const std::int64_t row : rows) {
    TRIBUTARY_TRY(database().run("DELETE FROM redo WHERE round_row = ?", row));
  }
  return {};
}

Status CoordinatorJournal::put(const EpochRecord& record) {
  TRIBUTARY_ASSIGN(const Bytes members, pack(record.members));
  TRIBUTARY_TRY(
      database().run("REPLACE INTO epochs (job, epoch, first_round, members, member_list) "
                     "VALUES (?, ?, ?, ?, ?)",
                     record.job, record.epoch, record.first_round, record.members.size(), members));
  return database().run("UPDATE jobs SET last_epoch = max(last_epoch, ?) WHERE job = ?",
                        record.epoch, record.job);
}

// --- rounds ------------------------------------------------------------------------------------

// Redo is not stored for a round that the record's own checkpoint contains, unless agents may need
// it.
Status CoordinatorJournal::put(const CommitRecord& record) {
  const RoundRecord& round = record.round;
  // A commit may be stored again after a failure whose outcome is unknown. The second record
  // replaces the first.
  TRIBUTARY_TRY(forget_round(round.id));
  TRIBUTARY_ASSIGN(const std::int64_t row, put_round(round, record.mechanisms));
  TRIBUTARY_TRY(put_plan(row, round.plan));
  const bool needed = !record.checkpoint || record.checkpoint->model_version < round.id.round ||
                      record.checkpoint->redo_from > 0;
  for (std::size_t place = 0; needed && place < record.redo.size(); ++place) {
    TRIBUTARY_TRY(put_redo(row, record.redo[place], place));
  }
  if (record.aggregator_residual) {
    TRIBUTARY_TRY(residuals_.put(round.id.job, *record.aggregator_residual));
  }
  if (record.checkpoint) TRIBUTARY_TRY(put(*record.checkpoint));
  TRIBUTARY_TRY(forget_epochs_before(round.id));
  return put_reports(record.reports);
}

Status CoordinatorJournal::forget_round(const RoundKey& id) {
  std::int64_t row = 0;
  TRIBUTARY_ASSIGN(const bool found,
                   database().first("SELECT round_row FROM rounds WHERE job = ? AND round = ?",
                                    std::tie(row), id.job, id.round));
  if (!found) return {};
  std::vector<BlobId> payloads;
  const auto take = [&](Rows& columns) { return columns.read(payloads.emplace_back()); };
  TRIBUTARY_TRY(database().each(
      "SELECT payload FROM redo WHERE round_row = ? AND payload IS NOT NULL", take, row));
  TRIBUTARY_TRY(blobs_.exchange(payloads, {}).status());
  TRIBUTARY_TRY(database().run("DELETE FROM redo WHERE round_row = ?", row));
  TRIBUTARY_TRY(database().run("DELETE FROM plans WHERE round_row = ?", row));
  TRIBUTARY_TRY(database().run("DELETE FROM contributor_sets WHERE round_row = ?", row));
  return database().run("DELETE FROM rounds WHERE round_row = ?", row);
}

// Contributor sets are stored once per set, and outcomes refer to them by their place.
Result<std::int64_t> CoordinatorJournal::put_round(const RoundRecord& round,
                                                   const SharedBytes& mechanisms) {
  TRIBUTARY_TRY(database().run(
      "INSERT INTO rounds (job, round, epoch, attempt, journal_entry, members, buckets, "
      "previous_hash, model_hash, began_at_ns, committed_at_ns, committed_wall_ns, bytes_up, "
      "bytes_down, outcomes, mechanisms) "
      "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
      round.id.job, round.id.round, round.id.epoch, round.id.attempt, round.journal_entry,
      round.members, round.buckets, round.previous_hash, round.model_hash, round.began_at_ns,
      round.committed_at_ns, now_wall_ns(), round.bytes_up, round.bytes_down, pack(round.outcomes),
      mechanisms));
  const std::int64_t row = database().last_row_id();
  for (std::size_t place = 0; place < round.contributor_sets.size(); ++place) {
    const ContributorSetRecord& set = round.contributor_sets[place];
    TRIBUTARY_TRY(
        database().run("INSERT INTO contributor_sets (round_row, place, contributors, divisor, "
                       "bits) VALUES (?, ?, ?, ?, ?)",
                       row, place, set.contributors, set.divisor, ByteSpan(set.bits)));
  }
  return row;
}

// The frame is the record; the other columns are for people and queries.
Status CoordinatorJournal::put_plan(std::int64_t row, const SharedBytes& frame) {
  const ReadablePlan plan = readable_plan(frame);
  return database().run(
      "INSERT INTO plans (round_row, trigger_name, sentence, codecs, collectives, quorum, "
      "deadline_ms, frame) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
      row, plan.trigger, plan.sentence, plan.codecs, plan.collectives, plan.quorum,
      plan.deadline_ms, frame);
}

Status CoordinatorJournal::put_redo(std::int64_t row, const RedoPayload& payload,
                                    std::uint64_t place) {
  std::optional<BlobId> blob;
  if (payload.payload) {
    TRIBUTARY_ASSIGN(blob, blobs_.add(*payload.payload));
  }
  return database().run(
      "INSERT INTO redo (round_row, place, bucket, stage, payload) VALUES (?, ?, ?, ?, ?)", row,
      place, payload.bucket, payload.stage, blob);
}

// An epoch is needed as long as a stored round belongs to it. No further round of an earlier epoch
// than this one will be committed, so earlier epochs without a round can be deleted. Epochs before
// that of the last commit have been checked already.
Status CoordinatorJournal::forget_epochs_before(const RoundKey& id) {
  std::uint32_t& looked_at = epochs_looked_at_[id.job];
  if (looked_at == id.epoch) return {};
  TRIBUTARY_TRY(database().run(
      "DELETE FROM epochs WHERE job = ?1 AND epoch BETWEEN ?3 AND ?2 - 1 AND NOT EXISTS "
      "(SELECT 1 FROM rounds WHERE job = ?1 AND rounds.epoch = epochs.epoch "
      "AND round >= epochs.first_round)",
      id.job, id.epoch, looked_at));
  looked_at = id.epoch;
  return {};
}

// --- records for people ------------------------------------------------------------------------

Status CoordinatorJournal::put(const AgentRecords& records) {
  for (const AgentRecord& agent : records.agents) {
    TRIBUTARY_TRY(database().run(
        "INSERT INTO agents (agent_id, incarnation, build, device_model, connected, job, "
        "model_version, seen_wall_ns) VALUES (?, ?, ?, ?, ?, ?, ?, ?) "
        "ON CONFLICT (agent_id) DO UPDATE SET incarnation = excluded.incarnation, "
        "build = excluded.build, device_model = excluded.device_model, "
        "connected = excluded.connected, job = excluded.job, "
        "model_version = excluded.model_version, seen_wall_ns = excluded.seen_wall_ns",
        agent.agent_id, agent.incarnation, agent.build, agent.device_model, agent.connected,
        agent.job, agent.model_version, now_wall_ns()));
  }
  return {};
}

Status CoordinatorJournal::put_reports(const std::vector<AgentRoundRecord>& reports) {
  if (reports.empty()) return {};
  for (const AgentRoundRecord& report : reports) {
    TRIBUTARY_ASSIGN(const std::int64_t agent, number_of_agent(report.agent_id));
    TRIBUTARY_TRY(database().run(
        "INSERT INTO agent_rounds (at_wall_ns, job, round, epoch, attempt, agent, loss, examples, "
        "compute_s, encode_s, wait_s, update_norm, residual_norm, bytes_up, bytes_down, decode_s, "
        "gain, mechanisms) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        now_wall_ns(), report.id.job, report.id.round, report.id.epoch, report.id.attempt, agent,
        report.loss, report.examples, report.compute_s, report.encode_s, report.wait_s,
        report.update_norm, report.residual_norm, report.bytes_up, report.bytes_down,
        report.decode_s, report.gain, report.mechanisms));
  }
  return tables_[agent_rounds].trim(database(), now_wall_ns());
}

// Reports refer to agents by a short number. An agent that reports before its own record is stored
// gets a row with its id alone.
Result<std::int64_t> CoordinatorJournal::number_of_agent(const std::string& agent_id) {
  if (const auto known = agent_numbers_.find(agent_id); known != agent_numbers_.end()) {
    return known->second;
  }
  TRIBUTARY_TRY(
      database().run("INSERT INTO agents (agent_id, seen_wall_ns) VALUES (?, ?) "
                     "ON CONFLICT (agent_id) DO NOTHING",
                     agent_id, now_wall_ns()));
  std::int64_t number = 0;
  TRIBUTARY_TRY(
      database()
          .first("SELECT agent FROM agents WHERE agent_id = ?", std::tie(number), agent_id)
          .status());
  if (agent_numbers_.size() >= kAgentNumbersMax) agent_numbers_.clear();
  return agent_numbers_[agent_id] = number;
}

Status CoordinatorJournal::add(const TelemetryRows& rows) {
  if (rows.size() > kTelemetryRowsMax) {
    return Status(StatusCode::invalid_argument,
                  {.what = "rows for the journal",
                   .expected = fmt::format("at most {} at a time", kTelemetryRowsMax),
                   .got = fmt::format("{}", rows.size()),
                   .remedy = "add them in several calls"});
  }
  // One transaction for all rows: each commit waits for the disk.
  return in_transaction([&]() -> Status {
    for (const DatedNote& event : rows.events) TRIBUTARY_TRY(put(event));
    for (const DatedReading& metric : rows.metrics) TRIBUTARY_TRY(put(metric));
    for (const LinkSampleRecord& sample : rows.link_samples) TRIBUTARY_TRY(put(sample));
    for (const Table table : {events, metrics, link_samples}) {
      TRIBUTARY_TRY(tables_[table].trim(database(), now_wall_ns()));
    }
    return {};
  });
}

Status CoordinatorJournal::put(const DatedNote& event) {
  const Note& note = event.note;
  return database().run(
      "INSERT INTO events (at_wall_ns, level, name, reason, source, text, job, round) "
      "VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
      event.at_wall_ns, note.level, short_text(note.name), short_text(note.reason),
      short_text(note.source), short_text(note.text), note.job, note.round);
}

Status CoordinatorJournal::put(const DatedReading& metric) {
  const NamedReading& reading = metric.reading;
  return database().run(
      "INSERT INTO metrics (at_wall_ns, name, value, job, round, agent_id) "
      "VALUES (?, ?, ?, ?, ?, ?)",
      metric.at_wall_ns, short_text(reading.name), reading.value, reading.job, reading.round,
      short_text(reading.agent_id));
}

Status CoordinatorJournal::put(const LinkSampleRecord& sample) {
  return database().run(
      "INSERT INTO link_samples (at_wall_ns, from_id, to_id, method, alpha_s, beta_s_per_byte, "
      "confidence) VALUES (?, ?, ?, ?, ?, ?, ?)",
      sample.at_wall_ns, short_text(sample.from), short_text(sample.to), sample.method,
      sample.alpha_s, sample.beta_s_per_byte, sample.confidence);
}

// --- reading -----------------------------------------------------------------------------------

Result<CoordinatorState> CoordinatorJournal::restore() {
  TRIBUTARY_ASSIGN(CoordinatorState state,
                   CoordinatorReading(database()).restore(history_rounds_max_));
  for (RestoredJob& job : state.jobs) TRIBUTARY_TRY(restore_residual(job));
  return state;
}

// A value of the residual is what earlier sums have lost at this place. So each value that is
// intact is right, and a zero only loses what the stored one had.
Status CoordinatorJournal::restore_residual(RestoredJob& job) {
  ResidualDamage damage{.job = job.job.job};
  TRIBUTARY_ASSIGN(job.aggregator_residual, residuals_.read(damage.job, damage.values));
  if (damage.values == 0) return {};
  if (job.aggregator_residual->empty()) job.aggregator_residual.reset();
  residual_damage_.push_back(damage);
  return in_transaction([&]() -> Status {
    TRIBUTARY_TRY(job.aggregator_residual ? residuals_.put(damage.job, *job.aggregator_residual)
                                          : residuals_.remove(damage.job));
    return put(DatedNote{.at_wall_ns = now_wall_ns(),
                         .note = {.level = LogLevel::warning,
                                  .name = "aggregator_residual_damaged",
                                  .text = fmt::format("{} values are zeros now", damage.values),
                                  .job = damage.job}});
  });
}

Result<RoundLoaded> CoordinatorJournal::load_round(const LoadRound& request) {
  return CoordinatorReading(database()).load_round(request);
}

}  // namespace tributary
