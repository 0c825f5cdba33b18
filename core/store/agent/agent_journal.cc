#include "core/store/agent/agent_journal.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "core/store/agent/agent_runs.h"
#include "core/store/agent/agent_schema.h"
#include "core/store/database/vectors/vector_transaction.h"
#include "core/store/durability/boot_id.h"
#include "core/update/norm.h"

namespace tributary {
namespace {

// Long values are beside the database. It has a few short rows that change in each round, and a
// page is written whenever one of its rows changes. A longer log would take longer to copy, and a
// record waits for that.
const DatabaseOptions kAgentDatabase = {
    .exclusive = true, .page_bytes = 4096, .log_bytes = 4u << 20, .cache_bytes = 1u << 20};

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

// Returns the residual's norm, without what is damaged. The stamp stays, except that no update is
// in the residual any more.
Result<double> drop_residual(Database& database, Blobs& blobs, std::uint64_t& damaged) {
  std::vector<BlobId> dropped;
  double norm = 0;
  std::optional<BlobId> residual;
  TRIBUTARY_TRY(database.first("SELECT residual FROM residual", std::tie(residual)).status());
  if (residual) {
    TRIBUTARY_ASSIGN(const SharedFloats values, blobs.read_floats(*residual, damaged));
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
  std::uint64_t damaged = 0;
  std::unique_ptr<VectorFile> vectors;
  // In one transaction: a process that ends in between must find everything as before.
  const BeginRun begin_run = [&](Database& database) -> Status {
    TRIBUTARY_ASSIGN(vectors,
                     VectorFile::open(database.file() + std::string(kVectorsEnd), options.vfs));
    Blobs blobs(database, large_chunks(*vectors, options));
    TRIBUTARY_TRY(blobs.find_large_chunks());
    TRIBUTARY_TRY(vectors->sync());  // what an earlier process has left
    TRIBUTARY_TRY(note_run(database, boot_id, options.durability));
    TRIBUTARY_ASSIGN(const bool lacks_records, may_lack_records(database, boot_id));
    if (!lacks_records) return {};
    TRIBUTARY_ASSIGN(dropped, drop_residual(database, blobs, damaged));
    return note_residual_dropped(database, *dropped);
  };
  TRIBUTARY_ASSIGN(OwnedDatabase owned,
                   open_journal(options, agent_migrations(), kAgentDatabase, begin_run));
  vectors->committed();
  std::unique_ptr<AgentJournal> journal(
      new AgentJournal(std::move(owned), std::move(vectors), options));
  journal->residual_dropped_ = dropped;
  journal->damage_.residual_values = damaged / sizeof(float);
  return journal;
}

Blobs::LargeChunks AgentJournal::large_chunks(VectorFile& file, const JournalOptions& options) {
  return {.file = &file, .bytes_min = large_chunk_bytes(options)};
}

// The vectors first: a durable row refers to durable bytes, unless it was stored in between.
Status AgentJournal::sync() {
  TRIBUTARY_TRY(vectors_->sync());
  return database().log().sync();
}

// The mark is the last page of the log, so it is never durable without everything before it.
Status AgentJournal::close() {
  TRIBUTARY_TRY(vectors_->sync());
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
  for (const char* end : {"", "-wal", "-shm", kVectorsEnd.data()}) {
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
  return change([&] { return std::visit([&](const auto& kind) { return put(kind); }, record); });
}

// Every error rolls the transaction back, so a record is stored completely or not at all.
Status AgentJournal::change(const std::function<Status()>& change) {
  Status done = in_transaction(database(), vectors_, durability_ == Durability::round, change);
  if (!done.ok()) known_ = {};
  return done;
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
  if (!record.model) TRIBUTARY_TRY(check_replica("replica without a model", record.job));
  // The download is removed first, so that the model is written to the pages that become free.
  TRIBUTARY_TRY(remove_download());
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
  if (!record.model) {
    if (known_.epoch == record.epoch) return {};
    known_.epoch = record.epoch;
    return database().run("UPDATE replica SET epoch = ?", record.epoch);
  }
  const std::optional<BlobId> model = blobs.next();
  const std::optional<BlobId> rule_state = blobs.next();
  known_.job = record.job;
  known_.epoch = record.epoch;
  return database().run(
      "REPLACE INTO replica (one, job, layer_map_hash, epoch, model_version, model_hash, model, "
      "rule_state) VALUES (1, ?, ?, ?, ?, ?, ?, ?)",
      record.job, record.layer_map_hash, record.epoch, record.model_version, record.model_hash,
      model, rule_state);
}

// A record that refers to the stored replica needs one of its job.
Status AgentJournal::check_replica(std::string_view what, std::uint64_t job) {
  if (known_.job == job) return {};
  std::uint64_t stored = 0;
  TRIBUTARY_ASSIGN(const bool found, database().first("SELECT job FROM replica", std::tie(stored)));
  if (found && stored == job) {
    known_.job = job;
    return {};
  }
  return Status(StatusCode::invalid_argument,
                {.what = fmt::format("{} of job {}", what, job),
                 .expected = "a stored replica of its job",
                 .got = found ? fmt::format("that of job {}", stored) : "none"});
}

// Replaces the residual, if the record has one, and the parts of the given buckets; other parts of
// the round stay.
Status AgentJournal::put(const ContributionRecord& record) {
  TRIBUTARY_TRY(check_replica("contribution", record.id.job));
  std::vector<BlobId> old_blobs;
  BlobList blobs;
  if (record.residual) {
    TRIBUTARY_TRY(blob_of_residual(old_blobs));
    blobs.add(record.residual);
  }
  std::uint64_t row = 0;
  if (!record.parts.empty()) {
    TRIBUTARY_ASSIGN(row, undecided_row(record));
    TRIBUTARY_TRY(blobs_of_parts(row, record.parts, old_blobs));
  }
  for (const ContributionPart& part : record.parts) {
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

// The blobs of the stored parts that `parts` replace.
Status AgentJournal::blobs_of_parts(std::uint64_t row, const std::vector<ContributionPart>& parts,
                                    std::vector<BlobId>& found) {
  const auto look = [&](Rows& stored) -> Status {
    std::uint32_t bucket = 0;
    std::optional<BlobId> blob;
    TRIBUTARY_TRY(stored.read(bucket, blob));
    if (blob && std::ranges::find(parts, bucket, &ContributionPart::bucket) != parts.end()) {
      found.push_back(*blob);
    }
    return {};
  };
  const auto [first, last] =
      std::ranges::minmax_element(parts, std::ranges::less(), &ContributionPart::bucket);
  return database().each(
      "SELECT bucket, if_committed FROM parts WHERE undecided = ? AND bucket BETWEEN ? AND ?", look,
      row, first->bucket, last->bucket);
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

Status AgentJournal::put(const DownloadRecord& record) {
  known_.no_download = false;
  return downloads_.put(record);
}

Status AgentJournal::remove_download() {
  if (known_.no_download) return {};
  TRIBUTARY_TRY(downloads_.remove());
  known_.no_download = true;
  return {};
}

// Deletes everything of the replica's job.
Status AgentJournal::forget_everything() {
  known_ = {};
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
    const auto drop = [&](Rows& part) -> Status {
      std::optional<BlobId> blob;
      TRIBUTARY_TRY(part.read(blob));
      if (blob) dropped.push_back(*blob);
      return {};
    };
    TRIBUTARY_TRY(
        database().each("DELETE FROM parts WHERE undecided = ? RETURNING if_committed", drop, row));
    TRIBUTARY_TRY(database().run("DELETE FROM undecided WHERE undecided = ?", row));
  }
  return {};
}

// Returns the row of the round, which is created by its first part.
Result<std::uint64_t> AgentJournal::undecided_row(const ContributionRecord& record) {
  const RoundKey& id = record.id;
  const ResidualStamp& stamp = record.residual_stamp;
  std::uint64_t row = 0;
  TRIBUTARY_TRY(
      database()
          .first("INSERT INTO undecided (job, round, epoch, attempt, agent_index, learning_rate, "
                 "updates_taken, update_round, part_round, part_first) "
                 "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) "
                 "ON CONFLICT (job, round, epoch, attempt) DO UPDATE SET "
                 "agent_index = excluded.agent_index, learning_rate = excluded.learning_rate, "
                 "updates_taken = excluded.updates_taken, update_round = excluded.update_round, "
                 "part_round = excluded.part_round, part_first = excluded.part_first "
                 "RETURNING undecided",
                 std::tie(row), id.job, id.round, id.epoch, id.attempt, record.agent_index,
                 stamp.learning_rate, stamp.updates_taken, stamp.update_round, stamp.part_round,
                 stamp.part_first)
          .status());
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

// --- damage ------------------------------------------------------------------------------------

// Its chunks are removed, because the same model would take them over unread.
Status AgentJournal::drop_damaged_model() {
  damage_.model = true;
  return change([&]() -> Status {
    std::vector<BlobId> blobs;
    TRIBUTARY_TRY(blobs_of_replica(blobs));
    TRIBUTARY_TRY(blobs_.exchange(blobs, {}).status());
    return database().run("UPDATE replica SET model = NULL, rule_state = NULL");
  });
}

// A residual of which a part is missing would be consistent, too. But the parts of undecided rounds
// replace the residual's buckets, and the agent must know which updates are in all of them.
Status AgentJournal::drop_damaged_residual() {
  return change([&]() -> Status {
    std::uint64_t damaged = 0;
    TRIBUTARY_ASSIGN(residual_dropped_, drop_residual(database(), blobs_, damaged));
    damage_.residual_values = damaged / sizeof(float);
    return note_residual_dropped(database(), *residual_dropped_);
  });
}

}  // namespace tributary
