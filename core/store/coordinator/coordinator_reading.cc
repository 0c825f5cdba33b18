#include "core/store/coordinator/coordinator_reading.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <set>

#include "core/store/coordinator/packed.h"
#include "core/store/database/restored.h"

namespace tributary {

// Everything that a coordinator needs to continue: all jobs with model, recent rounds and epochs.
Result<CoordinatorState> CoordinatorReading::restore(std::uint64_t history_rounds_max) {
  CoordinatorState state;
  TRIBUTARY_ASSIGN(std::vector<JobRecord> all, jobs());
  for (JobRecord& job : all) {
    RestoredJob& restored = state.jobs.emplace_back();
    restored.job = std::move(job);
    TRIBUTARY_TRY(restore_job(restored, history_rounds_max));
    TRIBUTARY_TRY(restore_facts(restored));
  }
  return state;
}

// A journal has few jobs, so a search over all of them is sufficient.
Result<std::optional<RestoredJob>> CoordinatorReading::restore_one(std::uint64_t job) {
  TRIBUTARY_ASSIGN(std::vector<JobRecord> all, jobs());
  for (JobRecord& record : all) {
    if (record.job != job) continue;
    RestoredJob restored;
    restored.job = std::move(record);
    TRIBUTARY_TRY(restore_job(restored, 0));
    return std::optional(std::move(restored));
  }
  return std::optional<RestoredJob>();
}

Result<std::vector<JobRecord>> CoordinatorReading::jobs() {
  std::vector<JobRecord> jobs;
  const auto add = [&](Rows& row) -> Status {
    JobRecord& job = jobs.emplace_back();
    Bytes policy;
    TRIBUTARY_TRY(row.read(job.job, job.revision, job.change, job.state, job.state_reason,
                           job.definition, policy));
    TRIBUTARY_TRY(check_restored(job.state, database_.path()));
    TRIBUTARY_ASSIGN(job.policy, decode_policy(policy));
    return {};
  };
  TRIBUTARY_TRY(
      database_.each("SELECT job, revision, change, state, state_reason, definition, policy "
                     "FROM jobs ORDER BY submission",
                     add));
  return jobs;
}

// History are the rounds up to the checkpoint, redo those after it.
Status CoordinatorReading::restore_job(RestoredJob& job, std::uint64_t history_rounds_max) {
  TRIBUTARY_TRY(restore_checkpoint(job));
  TRIBUTARY_TRY(restore_last_epoch(job));
  TRIBUTARY_TRY(restore_redo(job));
  const std::uint64_t version = job.checkpoint.model_version;
  if (version > 0 && history_rounds_max > 0) {
    const std::uint64_t first = version > history_rounds_max ? version - history_rounds_max + 1 : 1;
    TRIBUTARY_ASSIGN(job.history, rounds(job.job.job, first, version));
  }
  return restore_epochs(job);
}

// A job without a checkpoint cannot be continued, so its absence is damage.
Status CoordinatorReading::restore_checkpoint(RestoredJob& job) {
  CheckpointRecord& checkpoint = job.checkpoint;
  checkpoint.job = job.job.job;
  std::optional<BlobId> model;
  std::optional<BlobId> rule_state;
  TRIBUTARY_ASSIGN(
      const bool found,
      database_.first("SELECT model_version, model_hash, model, rule_state FROM checkpoints "
                      "WHERE job = ?",
                      std::tie(checkpoint.model_version, checkpoint.model_hash, model, rule_state),
                      checkpoint.job));
  if (!found) {
    return damaged_journal(database_.path(), fmt::format("job {}", checkpoint.job), "a checkpoint",
                           "none");
  }
  if (model) {
    TRIBUTARY_ASSIGN(checkpoint.model, blobs_.read_floats(*model));
  }
  if (rule_state) {
    TRIBUTARY_ASSIGN(checkpoint.rule_state, blobs_.read_bytes(*rule_state));
  }
  return {};
}

Status CoordinatorReading::restore_last_epoch(RestoredJob& job) {
  return database_
      .first("SELECT last_epoch FROM jobs WHERE job = ?", std::tie(job.last_epoch), job.job.job)
      .status();
}

// The rounds after the checkpoint, with their combined payloads, from which the model is computed
// again.
Status CoordinatorReading::restore_redo(RestoredJob& job) {
  const std::uint64_t version = job.checkpoint.model_version;
  constexpr auto kLastRound = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  if (version >= kLastRound) return {};
  // SQLite's integers are signed, so the last round that can be stored is below 2^63.
  TRIBUTARY_ASSIGN(std::vector<RoundRecord> after, rounds(job.job.job, version + 1, kLastRound));
  for (RoundRecord& round : after) {
    CommitRecord& commit = job.redo.emplace_back();
    commit.round = std::move(round);
    TRIBUTARY_ASSIGN(commit.redo, redo(commit.round.id));
  }
  return {};
}

// Only the epochs of restored rounds are needed.
Status CoordinatorReading::restore_epochs(RestoredJob& job) {
  std::set<std::uint32_t> epochs;
  for (const RoundRecord& round : job.history) epochs.insert(round.id.epoch);
  for (const CommitRecord& commit : job.redo) epochs.insert(commit.round.id.epoch);
  for (const std::uint32_t number : epochs) {
    TRIBUTARY_ASSIGN(std::optional<EpochRecord> found, epoch(job.job.job, number));
    if (found) job.epochs.push_back(std::move(*found));
  }
  return {};
}

// The newest facts, in ascending order of rounds.
Status CoordinatorReading::restore_facts(RestoredJob& job) {
  const auto add = [&](Rows& row) -> Status {
    RestoredFacts& facts = job.facts.emplace_back();
    return row.read(facts.round, facts.mechanisms);
  };
  TRIBUTARY_TRY(
      database_.each("SELECT round, mechanisms FROM rounds WHERE job = ? "
                     "ORDER BY round DESC LIMIT ?",
                     add, job.job.job, kFactsRestored));
  std::ranges::reverse(job.facts);
  return {};
}

// Neither round nor epoch is set if the round is not stored, which means that it was never
// committed.
Result<RoundLoaded> CoordinatorReading::load_round(const LoadRound& request) {
  RoundLoaded loaded;
  loaded.token = request.token;
  TRIBUTARY_ASSIGN(std::vector<RoundRecord> found,
                   rounds(request.job, request.round, request.round));
  if (found.empty()) return loaded;
  TRIBUTARY_ASSIGN(loaded.epoch, epoch(request.job, found.front().id.epoch));
  if (request.results_of) {
    TRIBUTARY_ASSIGN(loaded.results, redo(found.front().id, request.results_of));
  }
  loaded.round = std::move(found.front());
  return loaded;
}

Result<std::optional<EpochRecord>> CoordinatorReading::epoch(std::uint64_t job,
                                                             std::uint32_t number) {
  EpochRecord epoch;
  epoch.job = job;
  epoch.epoch = number;
  Bytes members;
  TRIBUTARY_ASSIGN(const bool found,
                   database_.first("SELECT first_round, member_list FROM epochs "
                                   "WHERE job = ? AND epoch = ?",
                                   std::tie(epoch.first_round, members), job, number));
  if (!found) return std::optional<EpochRecord>();
  TRIBUTARY_ASSIGN(epoch.members, unpack_members(members, database_.path()));
  return std::optional(std::move(epoch));
}

Result<std::vector<EpochRecord>> CoordinatorReading::epochs(std::uint64_t job) {
  std::vector<EpochRecord> epochs;
  const auto add = [&](Rows& row) -> Status {
    EpochRecord& epoch = epochs.emplace_back();
    epoch.job = job;
    ByteSpan members;
    TRIBUTARY_TRY(row.read(epoch.epoch, epoch.first_round, members));
    TRIBUTARY_ASSIGN(epoch.members, unpack_members(members, database_.path()));
    return {};
  };
  TRIBUTARY_TRY(
      database_.each("SELECT epoch, first_round, member_list FROM epochs WHERE job = ? "
                     "ORDER BY epoch",
                     add, job));
  return epochs;
}

// LEFT JOIN: a round without a plan is still a round, and its frame is then null.
Result<std::vector<RoundRecord>> CoordinatorReading::rounds(std::uint64_t job,
                                                            std::uint64_t first_round,
                                                            std::uint64_t last_round,
                                                            std::uint32_t rounds_max) {
  std::vector<RoundRecord> rounds;
  TRIBUTARY_TRY(database_.each(
      "SELECT round_row, job, round, epoch, attempt, journal_entry, members, buckets, "
      "previous_hash, model_hash, began_at_ns, committed_at_ns, bytes_up, bytes_down, outcomes, "
      "frame FROM rounds LEFT JOIN plans USING (round_row) "
      "WHERE job = ? AND round BETWEEN ? AND ? ORDER BY round LIMIT ?",
      [&](Rows& row) { return read_round(row, rounds); }, job, first_round, last_round,
      rounds_max));
  return rounds;
}

// An outcome that refers to a missing contributor set is damage; users of the record need not check
// it again.
Status CoordinatorReading::read_round(Rows& row, std::vector<RoundRecord>& rounds) {
  RoundRecord& round = rounds.emplace_back();
  std::int64_t round_row = 0;
  ByteSpan outcomes;
  TRIBUTARY_TRY(row.read(round_row, round.id.job, round.id.round, round.id.epoch, round.id.attempt,
                         round.journal_entry, round.members, round.buckets, round.previous_hash,
                         round.model_hash, round.began_at_ns, round.committed_at_ns, round.bytes_up,
                         round.bytes_down, outcomes, round.plan));
  TRIBUTARY_ASSIGN(round.outcomes, unpack_outcomes(outcomes, database_.path()));
  TRIBUTARY_TRY(read_sets(round_row, round));
  for (const OutcomeRecord& outcome : round.outcomes) {
    if (outcome.contributor_set >= round.contributor_sets.size()) {
      return damaged_journal(database_.path(), text(round.id),
                             fmt::format("{} contributor sets", outcome.contributor_set + 1),
                             fmt::format("{}", round.contributor_sets.size()));
    }
  }
  return {};
}

Status CoordinatorReading::read_sets(std::int64_t round_row, RoundRecord& round) {
  const auto add = [&](Rows& row) -> Status {
    ContributorSetRecord& set = round.contributor_sets.emplace_back();
    ByteSpan bits;
    TRIBUTARY_TRY(row.read(set.contributors, set.divisor, bits));
    set.bits.assign(bits.begin(), bits.end());
    return {};
  };
  return database_.each(
      "SELECT contributors, divisor, bits FROM contributor_sets WHERE round_row = ? "
      "ORDER BY place",
      add, round_row);
}

// In the order in which the payloads were stored.
Result<std::vector<RedoPayload>> CoordinatorReading::redo(const RoundKey& id,
                                                          std::optional<std::uint32_t> bucket) {
  std::vector<RedoPayload> payloads;
  const auto add = [&](Rows& row) -> Status {
    RedoPayload& payload = payloads.emplace_back();
    std::optional<BlobId> blob;
    TRIBUTARY_TRY(row.read(payload.bucket, payload.stage, blob));
    if (!blob) return {};
    TRIBUTARY_ASSIGN(payload.payload, blobs_.read_bytes(*blob));
    return {};
  };
  TRIBUTARY_TRY(
      database_.each("SELECT bucket, stage, payload FROM redo JOIN rounds USING (round_row) "
                     "WHERE job = ?1 AND round = ?2 AND (?3 IS NULL OR bucket = ?3) ORDER BY place",
                     add, id.job, id.round, bucket));
  return payloads;
}

}  // namespace tributary
