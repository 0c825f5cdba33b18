// Everything that must survive a crash, as plain values: what the two state machines ask to have
// stored, and what they are given back when they start. How it is stored is core/store's affair.
//
// Records of one machine are stored in the order in which they were asked for. Each is atomic:
// after a crash all of it is there or nothing, and nothing that was asked for later is there
// without it.
//
// Large values are shared and immutable, so that asking costs no copy.
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

// Replaces the record of the same job.
struct JobRecord {
  std::uint64_t job = 0;
  std::uint32_t revision = 1;
  std::uint32_t change = 0;  // counts changes of state
  wire::JobState state = wire::JobState::running;
  std::string state_reason;
  SharedBytes definition;  // a frame (schemas/frame.h) that holds the wire::Job
  RoundPolicy policy;
};

// The whole model after a round: what a restart begins with. Replaces the job's older checkpoints
// and the redo of the rounds up to it.
struct CheckpointRecord {
  std::uint64_t job = 0;
  std::uint64_t model_version = 0;
  std::uint64_t model_hash = 0;
  SharedFloats model;
  SharedBytes rule_state;  // of the optimizer (ModelRule); may be null
};

// A job that was submitted: both, in one step.
struct NewJobRecord {
  JobRecord job;
  CheckpointRecord checkpoint;
};

struct MemberRecord {
  std::string agent_id;
  double weight = 1;
};

// Stored before the epoch is announced, so that no epoch's number is ever given twice, and kept as
// long as a round that was committed in it: bitmaps are by place in `members`.
struct EpochRecord {
  std::uint64_t job = 0;
  std::uint32_t epoch = 0;
  std::uint64_t first_round = 0;
  std::vector<MemberRecord> members;
};

// Who is in a result; many buckets share one.
struct ContributorSetRecord {
  std::vector<std::uint8_t>
      bits;  // one per member of the epoch, from the low bit of the first byte
  std::uint32_t contributors = 0;
  double divisor = 1;
};

struct OutcomeRecord {
  std::uint32_t bucket = 0;
  std::uint32_t contributor_set = 0;  // place in RoundRecord::contributor_sets
  std::uint64_t result_hash = 0;      // of the combined payload of the last stage
};

// What became of a committed round. Never changes, and is kept: an agent that comes back after a
// long time asks what became of its contribution.
struct RoundRecord {
  RoundKey id;
  std::uint64_t journal_entry = 0;  // counts the commits of the job
  std::uint32_t members = 0;        // of the epoch
  std::uint32_t buckets = 0;        // of the plan; one without an outcome was not exchanged
  std::vector<ContributorSetRecord> contributor_sets;
  std::vector<OutcomeRecord> outcomes;
  std::uint64_t previous_hash = 0;
  std::uint64_t model_hash = 0;  // after it
  SharedBytes plan;              // a frame that holds the wire::Plan, with its reason
  std::int64_t began_at_ns = 0;  // the machine's clock
  std::int64_t committed_at_ns = 0;
  std::uint64_t bytes_up = 0;  // payloads that arrived, and that were sent, of all agents
  std::uint64_t bytes_down = 0;
};

// The combined payload of a stage: with the plan, all that makes version v of version v - 1.
struct RedoPayload {
  std::uint32_t bucket = 0;
  std::uint32_t stage = 0;
  SharedBytes payload;
};

// An agent's report on a round, for people and dashboards.
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
  // Share of its energy that what it kept has; NaN: it was not asked.
  double gain = std::numeric_limits<double>::quiet_NaN();
  std::uint64_t bytes_up = 0;
  std::uint64_t bytes_down = 0;
};

// A commit. Once it is stored the round counts, whatever happens; it is published only then.
struct CommitRecord {
  RoundRecord round;
  std::vector<RedoPayload> redo;
  // What encoding the aggregate again has lost so far (Aggregator::begin), of the whole model, for
  // codecs that do so: replaces the one before. Null: as it was.
  SharedFloats aggregator_residual;
  std::optional<CheckpointRecord> checkpoint;
  std::vector<AgentRoundRecord> reports;  // that came since the commit before; not read back
};

// For people and dashboards; no machine reads it back.
struct AgentRecord {
  std::string agent_id;
  std::uint64_t incarnation = 0;
  std::string build;
  std::string device_model;
  bool connected = false;
  std::uint64_t job = 0;
  std::uint64_t model_version = 0;
};

struct AgentRecords {
  std::vector<AgentRecord> agents;  // each replaces the one of the same id
};

using CoordinatorRecord =
    std::variant<NewJobRecord, JobRecord, EpochRecord, CommitRecord, AgentRecords>;

// What a coordinator starts with.
struct RestoredJob {
  JobRecord job;
  CheckpointRecord checkpoint;       // the newest
  std::vector<CommitRecord> redo;    // the commits after it, in order, with their payloads
  SharedFloats aggregator_residual;  // the newest; null: none
  std::vector<RoundRecord> history;  // the last rounds up to the checkpoint, in order; may be short
  std::vector<EpochRecord> epochs;   // of the rounds in `redo` and `history`, ascending
  std::uint32_t last_epoch = 0;      // the highest number that was ever stored
};

struct CoordinatorState {
  std::vector<RestoredJob> jobs;  // in the order of their submission
};

// --- agent -------------------------------------------------------------------------------------

// Replaces the one before; a job with another number also replaces the replica.
struct AgentJobRecord {
  std::uint64_t job = 0;
  std::uint32_t revision = 0;
  std::uint32_t change = 0;
  wire::JobState state = wire::JobState::running;
  SharedBytes definition;  // a frame that holds the wire::Job
};

// What belongs to the residual and is not a float.
struct ResidualStamp {
  std::uint64_t version = 0;        // of the model that it belongs to
  double learning_rate = 0;         // in whose units it is; 0: none yet
  std::uint64_t updates_taken = 0;  // updates that were added to it, ever; a part counts as one
  std::uint64_t update_round = 0;   // the last round whose update is among them
  // The last round of whose update a part came first, and where that part begins.
  std::uint64_t part_round = 0;
  std::uint64_t part_first = 0;
};

// The agent's replica after a commit or a transfer: everything in one step. Replaces the one before
// and the undecided rounds, except those that `undecided` names.
struct ReplicaRecord {
  std::uint64_t job = 0;
  std::uint64_t layer_map_hash = 0;
  std::uint32_t epoch = 0;
  std::uint64_t model_version = 0;
  std::uint64_t model_hash = 0;
  SharedFloats model;
  SharedBytes rule_state;
  SharedFloats residual;  // null: zeros
  ResidualStamp residual_stamp;
  std::vector<RoundKey> undecided;
};

// The residual of a bucket if the round commits with this agent in it. If it does not, the residual
// is what ContributionRecord::residual says.
struct ContributionPart {
  std::uint32_t bucket = 0;
  std::uint64_t first_value = 0;
  std::uint64_t values = 0;
  SharedFloats if_committed;  // null: zeros, for everything was given away
};

// Stored before any payload of a last stage is sent. Adds its parts to those of the same round; a
// part of a bucket that is there already replaces it. Without parts it is about the residual alone.
struct ContributionRecord {
  RoundKey id;
  std::uint32_t agent_index = 0;  // of the agent in the epoch
  SharedFloats residual;          // whole, with this round's update in it; null: as it was
  ResidualStamp residual_stamp;   // with `residual`
  std::vector<ContributionPart> parts;
};

// A run of a model download, stored while the rest is still on its way, so that the download goes
// on from there after a restart. Runs come in order: one at offset 0 replaces whatever download was
// stored before, every other begins where the one before ended. A ReplicaRecord removes them, as
// does an AgentJobRecord of another job.
struct DownloadRecord {
  std::uint64_t job = 0;
  std::uint64_t hash = 0;   // TransferOffer.hash: of all bytes of the download
  std::uint64_t bytes = 0;  // of the whole download
  std::uint64_t offset = 0;
  SharedBytes data;
};

using AgentRecordToStore =
    std::variant<AgentJobRecord, ReplicaRecord, ContributionRecord, DownloadRecord>;

struct UndecidedRound {
  RoundKey id;
  std::uint32_t agent_index = 0;
  std::vector<ContributionPart> parts;
};

// A download that was under way when the agent's process ended.
struct StoredDownload {
  std::uint64_t job = 0;
  std::uint64_t hash = 0;
  std::uint64_t bytes = 0;  // of the whole download
  Bytes received;           // its first bytes
};

// What an agent starts with. Nothing at all on a new device.
struct AgentState {
  std::optional<AgentJobRecord> job;
  std::optional<ReplicaRecord> replica;  // its residual: the newest stored, by whichever record
  std::vector<UndecidedRound> undecided;
  std::optional<StoredDownload> download;
};

}  // namespace tributary
