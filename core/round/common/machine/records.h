// The data that must survive a crash, as plain values: the records that the two state machines have
// stored, and the state that they receive when they start. core/store decides how they are stored.
//
// Records of one machine are stored in the order of the requests. Each is atomic: after a crash
// either all of it is stored or nothing, and no later record is stored without it.
//
// Large values are shared and immutable, so a request copies none of them.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/base/bytes/bytes.h"
#include "core/round/common/machine/policy.h"
#include "core/round/common/machine/round_key.h"
#include "schemas/frame_generated.h"

namespace tributary {

using SharedBytes = std::shared_ptr<const Bytes>;
using SharedFloats = std::shared_ptr<const FloatVector>;

// --- coordinator -------------------------------------------------------------------------------

// The definition and the state of a job. Replaces the record of the same job.
struct JobRecord {
  std::uint64_t job = 0;
  std::uint32_t revision = 1;
  std::uint32_t change = 0;  // counts changes of state
  wire::JobState state = wire::JobState::running;
  std::string state_reason;
  SharedBytes definition;  // a frame (schemas/frame.h) that holds the wire::Job
  RoundPolicy policy;
};

// The whole model after a round, from which a restart begins. Replaces the job's older checkpoints
// and the redo payloads of the rounds up to it, except those that `redo_from` names.
struct CheckpointRecord {
  std::uint64_t job = 0;
  std::uint64_t model_version = 0;
  std::uint64_t model_hash = 0;
  SharedFloats model;
  SharedBytes rule_state;  // state of the optimizer (ModelRule); may be null
  // From this round on, redo payloads stay stored for agents that are behind; 0: from the round
  // after the model on. Not stored itself.
  std::uint64_t redo_from = 0;
};

// A submitted job and its first model, stored in one transaction.
struct NewJobRecord {
  JobRecord job;
  CheckpointRecord checkpoint;
};

// One member of an epoch.
struct MemberRecord {
  std::string agent_id;
  double weight = 1;
};

// The members of an epoch. It is stored before the epoch is announced, so that no epoch number is
// used twice. It is kept as long as any round committed in the epoch, because bitmaps of members
// are indexed by position in `members`.
struct EpochRecord {
  std::uint64_t job = 0;
  std::uint32_t epoch = 0;
  std::uint64_t first_round = 0;
  std::vector<MemberRecord> members;
};

// The contributors of a bucket and their divisor. Many buckets share one set.
struct ContributorSetRecord {
  std::vector<std::uint8_t>
      bits;  // one per member of the epoch, from the low bit of the first byte
  std::uint32_t contributors = 0;
  double divisor = 1;
};

// The result of one bucket of a committed round.
struct OutcomeRecord {
  std::uint32_t bucket = 0;
  std::uint32_t contributor_set = 0;  // index into RoundRecord::contributor_sets
  std::uint64_t result_hash = 0;      // hash of the combined payload of the last stage
};

// The outcome of a committed round. It never changes. It is kept, because an agent that returns
// after a long time must learn whether its contribution counted.
struct RoundRecord {
  RoundKey id;
  std::uint64_t journal_entry = 0;  // number of this commit within the job
  std::uint32_t members = 0;        // number of members in the epoch
  // Number of buckets in the plan; a bucket without an outcome was not exchanged.
  std::uint32_t buckets = 0;
  std::vector<ContributorSetRecord> contributor_sets;
  std::vector<OutcomeRecord> outcomes;
  std::uint64_t previous_hash = 0;
  std::uint64_t model_hash = 0;  // after the round
  SharedBytes plan;              // a frame that holds the wire::Plan, with its reason
  std::int64_t began_at_ns = 0;  // by the machine's clock
  std::int64_t committed_at_ns = 0;
  std::uint64_t bytes_up = 0;  // payload bytes received from all agents, and sent to them
  std::uint64_t bytes_down = 0;
};

// The combined payload of one stage. Together with the plan, all of a round's payloads turn model
// version v - 1 into version v.
struct RedoPayload {
  std::uint32_t bucket = 0;
  std::uint32_t stage = 0;
  SharedBytes payload;
};

// An agent's report on a round, for the telemetry.
struct AgentRoundRecord {
  RoundKey id;
  std::string agent_id;
  double loss = 0;
  std::uint64_t examples = 0;
  double compute_s = 0;
  double encode_s = 0;
  double wait_s = 0;
  double decode_s = 0;
  double update_norm = 0;
  double residual_norm = 0;
  // Share of the update's energy that the agent's payloads kept; NaN: not measured.
  double gain = std::numeric_limits<double>::quiet_NaN();
  std::uint64_t bytes_up = 0;
  std::uint64_t bytes_down = 0;
  SharedBytes mechanisms;  // wire::Mechanisms, packed; null: the agent's build reports none
};

// A commit. A round counts from the moment at which this record is stored, and is published only
// then.
struct CommitRecord {
  RoundRecord round;
  std::vector<RedoPayload> redo;
  // The accumulated loss of encoding aggregates again (Aggregator::begin), for the whole model.
  // Replaces the stored one. Null: unchanged.
  SharedFloats aggregator_residual;
  std::optional<CheckpointRecord> checkpoint;
  std::vector<AgentRoundRecord> reports;  // received since the previous commit; never read back
  SharedBytes mechanisms;                 // wire::RoundMechanisms, packed
};

// The last known state of an agent, for the telemetry. No state machine reads it back.
struct AgentRecord {
  std::string agent_id;
  std::uint64_t incarnation = 0;
  std::string build;
  std::string device_model;
  bool connected = false;
  std::uint64_t job = 0;
  std::uint64_t model_version = 0;
};

// Several agents in one record, so that many reconnections cost one transaction.
struct AgentRecords {
  std::vector<AgentRecord> agents;  // each replaces the stored record of the same agent id
};

using CoordinatorRecord =
    std::variant<NewJobRecord, JobRecord, EpochRecord, CommitRecord, AgentRecords>;

// The facts of a committed round.
struct RestoredFacts {
  std::uint64_t round = 0;
  SharedBytes mechanisms;  // as in its CommitRecord; null: an earlier version stored none
};

// Number of rounds whose facts a coordinator gets back at its start.
constexpr std::uint64_t kFactsRestored = 64;

// The state of one job with which a coordinator starts.
struct RestoredJob {
  JobRecord job;
  CheckpointRecord checkpoint;       // the newest
  std::vector<CommitRecord> redo;    // the commits after the checkpoint, in order, with payloads
  SharedFloats aggregator_residual;  // the newest; null: none
  // The last rounds up to the checkpoint, in order; may be incomplete.
  std::vector<RoundRecord> history;
  std::vector<EpochRecord> epochs;   // the epochs of all rounds in `redo` and `history`, ascending
  std::uint32_t last_epoch = 0;      // the highest epoch number that was ever stored
  std::vector<RestoredFacts> facts;  // of the last kFactsRestored committed rounds, in order
};

// The state with which a coordinator starts.
struct CoordinatorState {
  std::vector<RestoredJob> jobs;  // in the order of their submission
};

// --- agent -------------------------------------------------------------------------------------

// The job of an agent. Replaces the stored one; a job with another number also removes the replica.
struct AgentJobRecord {
  std::uint64_t job = 0;
  std::uint32_t revision = 0;
  std::uint32_t change = 0;
  wire::JobState state = wire::JobState::running;
  SharedBytes definition;  // a frame that holds the wire::Job
};

// The position of a residual in the sequence of models and updates.
struct ResidualStamp {
  std::uint64_t version = 0;        // of the model to which the residual belongs
  double learning_rate = 0;         // the rate in whose units the residual is; 0: none yet
  std::uint64_t updates_taken = 0;  // number of updates ever added; a part counts as one
  std::uint64_t update_round = 0;   // the last round whose complete update was added
  // The last round of which only a part of the update was added, and the index of the first value
  // of that part, which extends to the end of the model.
  std::uint64_t part_round = 0;
  std::uint64_t part_first = 0;
};

// The agent's replica after a commit or a model download, stored in one transaction. Replaces the
// stored residual and, if the record has a model, the stored replica. Removes all undecided rounds
// that `undecided` does not name.
struct ReplicaRecord {
  std::uint64_t job = 0;
  std::uint64_t layer_map_hash = 0;
  std::uint32_t epoch = 0;
  std::uint64_t model_version = 0;
  std::uint64_t model_hash = 0;
  // Null: the stored model stays, with its version, hash and rule_state, and is older than the
  // residual. The coordinator has the rounds in between.
  SharedFloats model;
  SharedBytes rule_state;
  SharedFloats residual;  // null: zeros
  ResidualStamp residual_stamp;
  std::vector<RoundKey> undecided;
};

// The residual of a bucket for the case that the round commits with this agent's contribution to
// it. In the other case the residual stays as it is.
struct ContributionPart {
  std::uint32_t bucket = 0;
  std::uint64_t first_value = 0;
  std::uint64_t values = 0;
  SharedFloats if_committed;  // null: zeros, because the whole bucket was sent
};

// A contribution: the residual that remains if it counts, stored before any payload of a last stage
// is sent. Its parts are added to the stored parts of the same round; a part of the same bucket is
// replaced. A record without parts stores only the residual.
//
// The residual with the round's update is not stored with the parts. If the process ends before the
// round is decided, and the round does not count, that update is lost with the process's memory,
// and the agent trains again.
struct ContributionRecord {
  RoundKey id;
  std::uint32_t agent_index = 0;  // index of the agent in the epoch
  SharedFloats residual;          // complete; null: the stored one stays
  ResidualStamp residual_stamp;   // of `residual`, and of the parts
  std::vector<ContributionPart> parts;
  // The residual that was encoded, for auditors. It is not stored.
  SharedFloats encoded = nullptr;
};

// A run of bytes of a model download, stored while the rest is still being received, so that the
// download continues there after a restart. Runs are stored in order: a run at offset 0 replaces
// any stored download, every other run begins at the end of the one before. A ReplicaRecord removes
// the download, as does an AgentJobRecord of another job.
struct DownloadRecord {
  std::uint64_t job = 0;
  std::uint64_t hash = 0;   // TransferOffer.hash: the hash of the whole download
  std::uint64_t bytes = 0;  // size of the whole download
  std::uint64_t offset = 0;
  SharedBytes data;
};

using AgentRecordToStore =
    std::variant<AgentJobRecord, ReplicaRecord, ContributionRecord, DownloadRecord>;

// A contribution whose round had no known outcome when the agent's process ended.
struct UndecidedRound {
  RoundKey id;
  std::uint32_t agent_index = 0;
  std::vector<ContributionPart> parts;
  ResidualStamp stamp = {};  // of the parts: the updates that they contain
};

// A download that was not complete when the agent's process ended.
struct StoredDownload {
  std::uint64_t job = 0;
  std::uint64_t hash = 0;
  std::uint64_t bytes = 0;  // size of the whole download
  Bytes received;           // its first bytes
};

// The state with which an agent starts. Everything is empty on a new device.
struct AgentState {
  std::optional<AgentJobRecord> job;
  // Its residual is the newest stored one, from whichever record.
  std::optional<ReplicaRecord> replica;
  std::vector<UndecidedRound> undecided;
  std::optional<StoredDownload> download;
};

}  // namespace tributary
