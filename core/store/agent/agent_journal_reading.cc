// The reading half of AgentJournal: what an agent starts from.
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "core/store/agent/agent_journal.h"
#include "core/store/database/restored.h"

namespace tributary {

// Read in the order in which the agent checks them: the job determines whether the rest is of use.
Result<AgentState> AgentJournal::restore() {
  AgentState state;
  TRIBUTARY_ASSIGN(state.job, restore_job());
  TRIBUTARY_ASSIGN(state.replica, restore_replica());
  std::uint64_t damaged = 0;
  if (state.replica) TRIBUTARY_TRY(restore_residual(*state.replica, damaged));
  TRIBUTARY_ASSIGN(state.undecided, restore_undecided(damaged));
  if (damaged > 0) {
    TRIBUTARY_TRY(drop_damaged_residual());
    state.undecided.clear();
    if (state.replica) TRIBUTARY_TRY(restore_residual(*state.replica, damaged));
  }
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
  std::uint64_t damaged = 0;
  if (model) {
    TRIBUTARY_ASSIGN(replica.model, blobs_.read_floats(*model, damaged));
  }
  if (rule_state) {
    TRIBUTARY_ASSIGN(replica.rule_state, blobs_.read_bytes(*rule_state, damaged));
  }
  // The coordinator sends both again.
  if (damaged > 0) {
    TRIBUTARY_TRY(drop_damaged_model());
    replica.model.reset();
    replica.rule_state.reset();
  }
  return std::optional(std::move(replica));
}

Status AgentJournal::restore_residual(ReplicaRecord& replica, std::uint64_t& damaged) {
  replica.residual.reset();
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
    TRIBUTARY_ASSIGN(replica.residual, blobs_.read_floats(*residual, damaged));
  }
  return {};
}

Result<std::vector<UndecidedRound>> AgentJournal::restore_undecided(std::uint64_t& damaged) {
  std::vector<UndecidedRound> rounds;
  const auto add = [&](Rows& row) -> Status {
    std::uint64_t number = 0;
    UndecidedRound& round = rounds.emplace_back();
    ResidualStamp& stamp = round.stamp;
    TRIBUTARY_TRY(row.read(number, round.id.job, round.id.round, round.id.epoch, round.id.attempt,
                           round.agent_index, stamp.learning_rate, stamp.updates_taken,
                           stamp.update_round, stamp.part_round, stamp.part_first));
    return restore_parts(number, round, damaged);
  };
  TRIBUTARY_TRY(
      database().each("SELECT undecided, job, round, epoch, attempt, agent_index, learning_rate, "
                      "updates_taken, update_round, part_round, part_first FROM undecided "
                      "ORDER BY undecided",
                      add));
  return rounds;
}

// Parts in the order of buckets. A part without a blob stands for zeros.
Status AgentJournal::restore_parts(std::uint64_t row, UndecidedRound& round,
                                   std::uint64_t& damaged) {
  return database().each(
      "SELECT bucket, first_value, value_count, if_committed FROM parts WHERE undecided = ? "
      "ORDER BY bucket",
      [&](Rows& columns) -> Status {
        ContributionPart& part = round.parts.emplace_back();
        std::optional<BlobId> blob;
        TRIBUTARY_TRY(columns.read(part.bucket, part.first_value, part.values, blob));
        if (blob) {
          TRIBUTARY_ASSIGN(part.if_committed, blobs_.read_floats(*blob, damaged));
          part.values = part.if_committed->size();  // older journals do not store the size
        }
        return {};
      },
      row);
}

}  // namespace tributary
