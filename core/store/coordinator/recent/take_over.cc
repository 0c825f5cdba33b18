// Moves the contents of a journal of recent rounds to the journal of the run.
#include <fmt/format.h>

#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "core/store/coordinator/coordinator_journal.h"
#include "core/store/database/restored.h"

namespace tributary {
namespace {

// The other journal as a part of the connection, as `recent` in SQL.
class Attached {
 public:
  static Result<Attached> attach(Database& database, const std::string& file) {
    TRIBUTARY_TRY(database.run("ATTACH ? AS recent", file));
    return Attached(database);
  }
  ~Attached() {
    if (database_) ignore_error(database_->run("DETACH recent"));
  }
  Attached(Attached&& other) noexcept : database_(std::exchange(other.database_, nullptr)) {}
  Attached& operator=(Attached&&) = delete;

 private:
  explicit Attached(Database& database) : database_(&database) {}

  Database* database_;
};

// Keys of rows are those of their own journal, so rounds and agents are found by their names.
constexpr std::string_view kRounds =
    "INSERT INTO rounds (job, round, epoch, attempt, journal_entry, members, buckets, "
    "previous_hash, model_hash, began_at_ns, committed_at_ns, committed_wall_ns, bytes_up, "
    "bytes_down, outcomes, mechanisms) SELECT job, round, epoch, attempt, journal_entry, members, "
    "buckets, previous_hash, model_hash, began_at_ns, committed_at_ns, committed_wall_ns, "
    "bytes_up, bytes_down, outcomes, mechanisms FROM recent.rounds ORDER BY round_row";
constexpr std::string_view kSets =
    "INSERT INTO contributor_sets (round_row, place, contributors, divisor, bits) "
    "SELECT here.round_row, place, contributors, divisor, bits FROM recent.contributor_sets "
    "JOIN recent.rounds there USING (round_row) "
    "JOIN main.rounds here ON here.job = there.job AND here.round = there.round";
constexpr std::string_view kPlans =
    "INSERT INTO plans (round_row, trigger_name, sentence, codecs, collectives, quorum, "
    "deadline_ms, frame) SELECT here.round_row, trigger_name, sentence, codecs, collectives, "
    "quorum, deadline_ms, frame FROM recent.plans JOIN recent.rounds there USING (round_row) "
    "JOIN main.rounds here ON here.job = there.job AND here.round = there.round";

// An agent that has only reported has a row without an incarnation.
constexpr std::string_view kAgents =
    "INSERT INTO agents (agent_id, incarnation, build, device_model, connected, job, "
    "model_version, seen_wall_ns) SELECT agent_id, incarnation, build, device_model, connected, "
    "job, model_version, seen_wall_ns FROM recent.agents WHERE incarnation IS NOT NULL "
    "ON CONFLICT (agent_id) DO UPDATE SET incarnation = excluded.incarnation, "
    "build = excluded.build, device_model = excluded.device_model, "
    "connected = excluded.connected, job = excluded.job, "
    "model_version = excluded.model_version, seen_wall_ns = excluded.seen_wall_ns";
constexpr std::string_view kReporters =
    "INSERT INTO agents (agent_id, seen_wall_ns) SELECT agent_id, seen_wall_ns "
    "FROM recent.agents WHERE incarnation IS NULL ON CONFLICT (agent_id) DO NOTHING";
constexpr std::string_view kReports =
    "INSERT INTO agent_rounds (at_wall_ns, job, round, epoch, attempt, agent, loss, examples, "
    "compute_s, encode_s, wait_s, update_norm, residual_norm, bytes_up, bytes_down, decode_s, "
    "gain, mechanisms) SELECT at_wall_ns, there.job, round, epoch, attempt, here.agent, loss, "
    "examples, compute_s, encode_s, wait_s, update_norm, residual_norm, bytes_up, bytes_down, "
    "decode_s, gain, mechanisms FROM recent.agent_rounds there "
    "JOIN recent.agents named ON named.agent = there.agent "
    "JOIN main.agents here ON here.agent_id = named.agent_id ORDER BY agent_round";
constexpr std::string_view kEvents =
    "INSERT INTO events (at_wall_ns, level, name, reason, source, text, job, round) "
    "SELECT at_wall_ns, level, name, reason, source, text, job, round FROM recent.events "
    "ORDER BY event";
constexpr std::string_view kMetricRows =
    "INSERT INTO metrics (at_wall_ns, name, value, job, round, agent_id) "
    "SELECT at_wall_ns, name, value, job, round, agent_id FROM recent.metrics ORDER BY metric";
constexpr std::string_view kLinkSamples =
    "INSERT INTO link_samples (at_wall_ns, from_id, to_id, method, alpha_s, beta_s_per_byte, "
    "confidence) SELECT at_wall_ns, from_id, to_id, method, alpha_s, beta_s_per_byte, confidence "
    "FROM recent.link_samples ORDER BY link_sample";

}  // namespace

Status CoordinatorJournal::take_over(CoordinatorJournal& recent) {
  TRIBUTARY_ASSIGN(const Attached attached, Attached::attach(database(), recent.database().file()));
  return in_transaction([&]() -> Status {
    std::vector<std::uint64_t> jobs;
    TRIBUTARY_TRY(recent.database().each("SELECT job FROM jobs",
                                         [&](Rows& row) { return row.read(jobs.emplace_back()); }));
    TRIBUTARY_TRY(take_rounds());
    for (const std::uint64_t job : jobs) TRIBUTARY_TRY(take_state(recent, job));
    return take_rows_for_people();
  });
}

// A round that is here already, because the process ended before the other journal was deleted, is
// replaced.
Status CoordinatorJournal::take_rounds() {
  std::vector<RoundKey> both;
  TRIBUTARY_TRY(database().each(
      "SELECT job, round FROM rounds JOIN recent.rounds USING (job, round)", [&](Rows& row) {
        RoundKey& id = both.emplace_back();
        return row.read(id.job, id.round);
      }));
  for (const RoundKey& id : both) TRIBUTARY_TRY(forget_round(id));
  for (const std::string_view rows : {kRounds, kSets, kPlans}) TRIBUTARY_TRY(database().run(rows));
  return {};
}

// A restart needs a checkpoint, the payloads after it, and the aggregator's residual. Each is taken
// if the other journal has it.
Status CoordinatorJournal::take_state(CoordinatorJournal& recent, std::uint64_t job) {
  CheckpointRecord checkpoint;
  checkpoint.job = job;
  std::optional<BlobId> model;
  std::optional<BlobId> rule_state;
  TRIBUTARY_ASSIGN(
      const bool found,
      recent.database().first(
          "SELECT model_version, model_hash, model, rule_state FROM checkpoints WHERE job = ?",
          std::tie(checkpoint.model_version, checkpoint.model_hash, model, rule_state), job));
  if (found) {
    if (model) {
      TRIBUTARY_ASSIGN(checkpoint.model, recent.blobs_.read_floats(*model));
    }
    if (rule_state) {
      TRIBUTARY_ASSIGN(checkpoint.rule_state, recent.blobs_.read_bytes(*rule_state));
    }
    TRIBUTARY_TRY(put(checkpoint));
  }
  const auto take_redo = [&](Rows& row) -> Status {
    std::uint64_t round = 0;
    std::uint64_t place = 0;
    RedoPayload payload;
    std::optional<BlobId> blob;
    TRIBUTARY_TRY(row.read(round, place, payload.bucket, payload.stage, blob));
    if (blob) {
      TRIBUTARY_ASSIGN(payload.payload, recent.blobs_.read_bytes(*blob));
    }
    std::int64_t here = 0;
    TRIBUTARY_TRY(database()
                      .first("SELECT round_row FROM rounds WHERE job = ? AND round = ?",
                             std::tie(here), job, round)
                      .status());
    return put_redo(here, payload, place);
  };
  TRIBUTARY_TRY(recent.database().each(
      "SELECT round, place, bucket, stage, payload FROM redo JOIN rounds USING (round_row) "
      "WHERE job = ? ORDER BY round, place",
      take_redo, job));
  std::uint64_t damaged = 0;
  TRIBUTARY_ASSIGN(const SharedFloats residual, recent.residuals_.read(job, damaged));
  if (damaged > 0) {
    return damaged_journal(recent.vectors_path(), "residual of the aggregator", "its hashes",
                           fmt::format("{} values of others", damaged));
  }
  return residual ? residuals_.put(job, *residual) : Status();
}

Status CoordinatorJournal::take_rows_for_people() {
  for (const std::string_view rows :
       {kAgents, kReporters, kReports, kEvents, kMetricRows, kLinkSamples}) {
    TRIBUTARY_TRY(database().run(rows));
  }
  for (BoundedTable& table : tables_) TRIBUTARY_TRY(table.trim(database(), now_wall_ns()));
  return {};
}

}  // namespace tributary
