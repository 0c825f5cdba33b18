#include "core/store/agent/agent_journal.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "core/store/agent/agent_runs.h"
#include "core/store/agent/agent_schema.h"
#include "core/store/database/restored.h"
#include "core/store/durability/boot_id.h"
#include "core/update/norm.h"

namespace tributary {
namespace {

// The journal consists mostly of long values that are overwritten in each round. Long values need
// large pages. With a longer log, a page is overwritten more often in the log before it is copied
// to the file.
const DatabaseOptions kAgentDatabase = {
    .exclusive = true, .page_bytes = 16u << 10, .log_bytes = 64u << 20, .cache_bytes = 1u << 20};

// The blobs of one record, each of which may be missing.
class BlobList {
 public:
  void add(const SharedFloats& floats, std::uint64_t begins_at = 0) {
    add(floats ? std::optional(bytes_of(std::span<const float>(*floats))) : std::nullopt,
        begins_at);
  }
  void add(const SharedBytes& bytes) {
    add(bytes ? std::optional(ByteSpan(*bytes)) : std::nullopt, 0);
  }

  Status exchange(Blobs& blobs, std::span<const BlobId> old_blobs) {
    TRIBUTARY_ASSIGN(numbers_, blobs.exchange(old_blobs, values_));
    return {};
  }
  // Returns the blob numbers in the order of add(); empty for a value that is missing.
  std::optional<BlobId> next() {
    if (!present_[next_place_++]) return std::nullopt;
    return numbers_[next_number_++];
  }

 private:
  void add(const std::optional<ByteSpan>& bytes, std::uint64_t begins_at) {
    present_.push_back(bytes.has_value());
    if (bytes) values_.push_back({.bytes = *bytes, .begins_at = begins_at});
  }

  std::vector<bool> present_;
  std::vector<NewBlob> values_;
  std::vector<BlobId> numbers_;
  std::size_t next_place_ = 0;
  std::size_t next_number_ = 0;
};

// Returns the residual's norm. The stamp stays, except that no update is in the residual any more.
Result<double> drop_residual(Database& database) {
  Blobs blobs(database);
  std::vector<BlobId> dropped;
  double norm = 0;
  std::optional<BlobId> residual;
  TRIBUTARY_TRY(database.first("SELECT residual FROM residual", std::tie(residual)).status());
  if (residual) {
    TRIBUTARY_ASSIGN(const SharedFloats values, blobs.read_floats(*residual));
    norm = norm_of(*values);
    dropped.push_back(*residual);
  }
  TRIBUTARY_TRY(database.each("SELECT if_committed FROM parts WHERE if_committed IS NOT NULL",
                              [&](Rows& part) { return part.read(dropped.emplace_back()); }));
  TRIBUTARY_TRY(blobs.exchange(dropped, {}).status());
  TRIBUTARY_TRY(database.run("DELETE FROM parts"));
  TRIBUTARY_TRY(database.run("DELETE FROM undecided"));
  TRIBUTARY_TRY(database.run(
      "UPDATE residual SET residual = NULL, update_round = 0, part_round = 0, part_first = 0"));
  return norm;
}

}  // namespace

Result<std::unique_ptr<AgentJournal>> AgentJournal::open(const JournalOptions& options) {
  const std::string boot_id = options.boot_id.empty() ? system_boot_id() : options.boot_id;
  std::optional<double> dropped;
  // In one transaction: a process that ends in between must find everything as before.
  const BeginRun begin_run = [&](Database& database) -> Status {
    TRIBUTARY_TRY(note_run(database, boot_id, options.durability));
    TRIBUTARY_ASSIGN(const bool lacks_records, may_lack_records(database, boot_id));
    if (!lacks_records) return {};
    TRIBUTARY_ASSIGN(dropped, drop_residual(database));
    return note_residual_dropped(database, *dropped);
  };
  TRIBUTARY_ASSIGN(OwnedDatabase owned,
                   open_journal(options, agent_migrations(), kAgentDatabase, begin_run));
  return std::unique_ptr<AgentJournal>(
      new AgentJournal(std::move(owned), clock_of(options), dropped));
}

// The mark is the last page of the log, so it is never durable without everything before it.
Status AgentJournal::close() {
  {
    TRIBUTARY_ASSIGN(Transaction transaction, Transaction::begin(database()));
    TRIBUTARY_TRY(note_closed(database(), wall_time_ns(clock_)));
    TRIBUTARY_TRY(transaction.commit());
  }
  return database().log().empty();
}

Result<std::uint64_t> AgentJournal::residuals_dropped() {
  return count_residuals_dropped(database());
}

// The file goes first: the log without its file is deleted when the new file is opened, but the
// file without its log would be taken for an older state.
Result<std::string> AgentJournal::set_aside(const std::string& path) {
  TRIBUTARY_ASSIGN(const FileLock lock, FileLock::take(path));
  const std::string aside = path + ".damaged";
  for (const char* end : {"", "-wal", "-shm"}) {
    std::error_code error;
    std::filesystem::remove(aside + end, error);
    std::filesystem::rename(path + end, aside + end, error);
    if (!error || error == std::errc::no_such_file_or_directory) continue;
    return Status(StatusCode::io_error, {.what = fmt::format("renaming '{}{}'", path, end),
                                         .expected = fmt::format("'{}{}'", aside, end),
                                         .got = error.message(),
                                         .remedy = "move the damaged journal away"});
  }
  return aside;
}

// One transaction per record.
Status AgentJournal::store(const AgentRecordToStore& record) {
  TRIBUTARY_ASSIGN(Transaction transaction, Transaction::begin(database()));
  // Every error rolls the transaction back, so a record is stored completely or not at all.
  TRIBUTARY_TRY(std::visit([&](const auto& kind) { return put(kind); }, record));
  return transaction.commit();
}

// A record of another job deletes everything of the old one, because a replica belongs to one job.
Status AgentJournal::put(const AgentJobRecord& record) {
  std::uint64_t job = 0;
  TRIBUTARY_ASSIGN(const bool replica, database().first("SELECT job FROM replica", std::tie(job)));
  if (replica && job != record.job) TRIBUTARY_TRY(forget_everything());
  TRIBUTARY_TRY(downloads_.remove_other_than(record.job));
  return database().run(
      "REPLACE INTO job (one, job, revision, change, state, definition) VALUES (1, ?, ?, ?, ?, ?)",
      record.job, record.revision, record.change, record.state, record.definition);
}

// Replaces residual and, if the record has a model, the replica, and deletes the undecided rounds
// that the record does not list. All blobs are exchanged in one step, so that model and residual
// reuse the pages of the deleted ones.
Status AgentJournal::put(const ReplicaRecord& record) {
  if (!record.model) TRIBUTARY_TRY(check_replica(record.job, "replica without a model"));
  // The download is removed first, so that the model is written to the pages that become free.
  TRIBUTARY_TRY(downloads_.remove());
  std::vector<BlobId> old_blobs;
  if (record.model) TRIBUTARY_TRY(blobs_of_replica(old_blobs));
  TRIBUTARY_TRY(blob_of_residual(old_blobs));
  TRIBUTARY_TRY(forget_undecided(record.undecided, old_blobs));

  BlobList blobs;
  blobs.add(record.residual);
  if (record.model) {
    blobs.add(record.model);
    blobs.add(record.rule_state);
  }
  TRIBUTARY_TRY(blobs.exchange(blobs_, old_blobs));
  TRIBUTARY_TRY(put_residual(record.residual_stamp, blobs.next()));
  if (!record.model) return database().run("UPDATE replica SET epoch = ?", record.epoch);
  const std::optional<BlobId> model = blobs.next();
  const std::optional<BlobId> rule_state = blobs.next();
  return database().run(
      "REPLACE INTO replica (one, job, layer_map_hash, epoch, model_version, model_hash, model, "
      "rule_state) VALUES (1, ?, ?, ?, ?, ?, ?, ?)",
      record.job, record.layer_map_hash, record.epoch, record.model_version, record.model_hash,
      model, rule_state);
}

// A record that refers to the stored replica needs one of its job.
Status AgentJournal::check_replica(std::uint64_t job, std::string what) {
  std::uint64_t stored = 0;
  TRIBUTARY_ASSIGN(const bool found, database().first("SELECT job FROM replica", std::tie(stored)));
  if (found && stored == job) return {};
  return Status(StatusCode::invalid_argument,
                {.what = std::move(what),
                 .expected = "a stored replica of its job",
                 .got = found ? fmt::format("that of job {}", stored) : "none"});
}

// Replaces the residual, if the record has one, and the parts of the given buckets; other parts of
// the round stay.
Status AgentJournal::put(const ContributionRecord& record) {
  TRIBUTARY_TRY(check_replica(record.id.job, fmt::format("contribution to {}", text(record.id))));
  std::vector<BlobId> old_blobs;
  BlobList blobs;
  if (record.residual) {
    TRIBUTARY_TRY(blob_of_residual(old_blobs));
    blobs.add(record.residual);
  }
  std::uint64_t row = 0;
  if (!record.parts.empty()) {
    TRIBUTARY_ASSIGN(row, undecided_row(record));
  }
  for (const ContributionPart& part : record.parts) {
    std::optional<BlobId> old_part;
    TRIBUTARY_TRY(database()
                      .first("SELECT if_committed FROM parts WHERE undecided = ? AND bucket = ?",
                             std::tie(old_part), row, part.bucket)
                      .status());
    if (old_part) old_blobs.push_back(*old_part);
    // The offset in the model makes the part's chunks coincide with those of the residual, which
    // often has the same values.
    blobs.add(part.if_committed, part.first_value * sizeof(float));
  }
  TRIBUTARY_TRY(blobs.exchange(blobs_, old_blobs));
  if (record.residual) TRIBUTARY_TRY(put_residual(record.residual_stamp, blobs.next()));
  for (const ContributionPart& part : record.parts) {
    TRIBUTARY_TRY(database().run(
        "REPLACE INTO parts (undecided, bucket, first_value, value_count, if_committed) "
        "VALUES (?, ?, ?, ?, ?)",
        row, part.bucket, part.first_value, part.values, blobs.next()));
  }
  return {};
}

// The stamp is stored even if the residual itself is missing.
Status AgentJournal::put_residual(const ResidualStamp& stamp, std::optional<BlobId> residual) {
  return database().run(
      "REPLACE INTO residual (one, version, learning_rate, updates_taken, update_round, "
      "part_round, "
      "part_first, residual) VALUES (1, ?, ?, ?, ?, ?, ?, ?)",
      stamp.version, stamp.learning_rate, stamp.updates_taken, stamp.update_round, stamp.part_round,
      stamp.part_first, residual);
}

// Deletes everything of the replica's job.
Status AgentJournal::forget_everything() {
  std::vector<BlobId> blobs;
  TRIBUTARY_TRY(blobs_of_replica(blobs));
  TRIBUTARY_TRY(blob_of_residual(blobs));
  TRIBUTARY_TRY(forget_undecided({}, blobs));
  TRIBUTARY_TRY(blobs_.exchange(blobs, {}).status());
  TRIBUTARY_TRY(database().run("DELETE FROM replica"));
  return database().run("DELETE FROM residual");
}

// Rows are collected first: a table must not change while it is being read.
Status AgentJournal::forget_undecided(const std::vector<RoundKey>& kept,
                                      std::vector<BlobId>& dropped) {
  std::vector<std::uint64_t> rows;
  const auto look = [&](Rows& row) -> Status {
    std::uint64_t number = 0;
    RoundKey id;
    TRIBUTARY_TRY(row.read(number, id.job, id.round, id.epoch, id.attempt));
    if (std::ranges::find(kept, id) == kept.end()) rows.push_back(number);
    return {};
  };
  TRIBUTARY_TRY(
      database().each("SELECT undecided, job, round, epoch, attempt FROM undecided", look));
  for (const std::uint64_t row : rows) {
    TRIBUTARY_TRY(database().each(
        "SELECT if_committed FROM parts WHERE undecided = ? AND if_committed IS NOT NULL",
        [&](Rows& part) { return part.read(dropped.emplace_back()); }, row));
    TRIBUTARY_TRY(database().run("DELETE FROM parts WHERE undecided = ?", row));
    TRIBUTARY_TRY(database().run("DELETE FROM undecided WHERE undecided = ?", row));
  }
  return {};
}

// Returns the row of the round, which is created by its first part.
Result<std::uint64_t> AgentJournal::undecided_row(const ContributionRecord& record) {
  const RoundKey& id = record.id;
  const ResidualStamp& stamp = record.residual_stamp;
  TRIBUTARY_TRY(database().run(
      "INSERT INTO undecided (job, round, epoch, attempt, agent_index) VALUES (?, ?, ?, ?, ?) "
      "ON CONFLICT (job, round, epoch, attempt) DO UPDATE SET agent_index = excluded.agent_index",
      id.job, id.round, id.epoch, id.attempt, record.agent_index));
  std::uint64_t row = 0;
  TRIBUTARY_TRY(database()
                    .first("SELECT undecided FROM undecided "
                           "WHERE job = ? AND round = ? AND epoch = ? AND attempt = ?",
                           std::tie(row), id.job, id.round, id.epoch, id.attempt)
                    .status());
  TRIBUTARY_TRY(
      database().run("UPDATE undecided SET learning_rate = ?, updates_taken = ?, update_round = ?, "
                     "part_round = ?, part_first = ? WHERE undecided = ?",
                     stamp.learning_rate, stamp.updates_taken, stamp.update_round, stamp.part_round,
                     stamp.part_first, row));
  return row;
}

Status AgentJournal::blobs_of_replica(std::vector<BlobId>& found) {
  std::optional<BlobId> model;
  std::optional<BlobId> rule_state;
  TRIBUTARY_TRY(database()
                    .first("SELECT model, rule_state FROM replica", std::tie(model, rule_state))
                    .status());
  if (model) found.push_back(*model);
  if (rule_state) found.push_back(*rule_state);
  return {};
}

Status AgentJournal::blob_of_residual(std::vector<BlobId>& found) {
  std::optional<BlobId> residual;
  TRIBUTARY_TRY(database().first("SELECT residual FROM residual", std::tie(residual)).status());
  if (residual) found.push_back(*residual);
  return {};
}

// --- restoring ---------------------------------------------------------------------------------

// Read in the order in which the agent checks them: the job determines whether the rest is of use.
Result<AgentState> AgentJournal::restore() {
  AgentState state;
  TRIBUTARY_ASSIGN(state.job, restore_job());
  TRIBUTARY_ASSIGN(state.replica, restore_replica());
  TRIBUTARY_ASSIGN(state.undecided, restore_undecided());
  TRIBUTARY_ASSIGN(state.download, downloads_.restore());
  return state;
}

Result<std::optional<AgentJobRecord>> AgentJournal::restore_job() {
  AgentJobRecord job;
  TRIBUTARY_ASSIGN(
      const bool found,
      database().first("SELECT job, revision, change, state, definition FROM job",
                       std::tie(job.job, job.revision, job.change, job.state, job.definition)));
  if (!found) return std::optional<AgentJobRecord>();
  TRIBUTARY_TRY(check_restored(job.state, database().path()));
  return std::optional(std::move(job));
}

Result<std::optional<ReplicaRecord>> AgentJournal::restore_replica() {
  ReplicaRecord replica;
  std::optional<BlobId> model;
  std::optional<BlobId> rule_state;
  TRIBUTARY_ASSIGN(
      const bool found,
      database().first("SELECT job, layer_map_hash, epoch, model_version, model_hash, model, "
                       "rule_state FROM replica",
                       std::tie(replica.job, replica.layer_map_hash, replica.epoch,
                                replica.model_version, replica.model_hash, model, rule_state)));
  if (!found) return std::optional<ReplicaRecord>();
  if (model) {
    TRIBUTARY_ASSIGN(replica.model, blobs_.read_floats(*model));
  }
  if (rule_state) {
    TRIBUTARY_ASSIGN(replica.rule_state, blobs_.read_bytes(*rule_state));
  }
  TRIBUTARY_TRY(restore_residual(replica));
  return std::optional(std::move(replica));
}

Status AgentJournal::restore_residual(ReplicaRecord& replica) {
  ResidualStamp& stamp = replica.residual_stamp;
  std::optional<BlobId> residual;
  TRIBUTARY_TRY(
      database()
          .first("SELECT version, learning_rate, updates_taken, update_round, part_round, "
                 "part_first, residual FROM residual",
                 std::tie(stamp.version, stamp.learning_rate, stamp.updates_taken,
                          stamp.update_round, stamp.part_round, stamp.part_first, residual))
          .status());
  if (residual) {
    TRIBUTARY_ASSIGN(replica.residual, blobs_.read_floats(*residual));
  }
  return {};
}

Result<std::vector<UndecidedRound>> AgentJournal::restore_undecided() {
  std::vector<UndecidedRound> rounds;
  const auto add = [&](Rows& row) -> Status {
    std::uint64_t number = 0;
    UndecidedRound& round = rounds.emplace_back();
    ResidualStamp& stamp = round.stamp;
    TRIBUTARY_TRY(row.read(number, round.id.job, round.id.round, round.id.epoch, round.id.attempt,
                           round.agent_index, stamp.learning_rate, stamp.updates_taken,
                           stamp.update_round, stamp.part_round, stamp.part_first));
    return restore_parts(number, round);
  };
  TRIBUTARY_TRY(
      database().each("SELECT undecided, job, round, epoch, attempt, agent_index, learning_rate, "
                      "updates_taken, update_round, part_round, part_first FROM undecided "
                      "ORDER BY undecided",
                      add));
  return rounds;
}

// Parts in the order of buckets. A part without a blob stands for zeros.
Status AgentJournal::restore_parts(std::uint64_t row, UndecidedRound& round) {
  return database().each(
      "SELECT bucket, first_value, value_count, if_committed FROM parts WHERE undecided = ? "
      "ORDER BY bucket",
      [&](Rows& columns) -> Status {
        ContributionPart& part = round.parts.emplace_back();
        std::optional<BlobId> blob;
        TRIBUTARY_TRY(columns.read(part.bucket, part.first_value, part.values, blob));
        if (blob) {
          TRIBUTARY_ASSIGN(part.if_committed, blobs_.read_floats(*blob));
          part.values = part.if_committed->size();  // older journals do not store the size
        }
        return {};
      },
      row);
}

}  // namespace tributary
