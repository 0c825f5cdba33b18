#include "core/store/coordinator/coordinator_schema.h"

#include <array>
#include <string>

#include "core/store/database/blobs.h"
#include "core/store/database/journal.h"

namespace tributary {
namespace {

// The state for a restart.
constexpr std::string_view kStateTables = R"sql(
CREATE TABLE jobs (
  submission INTEGER PRIMARY KEY AUTOINCREMENT,
  job INTEGER NOT NULL UNIQUE,
  name TEXT,
  revision INTEGER NOT NULL,
  change INTEGER NOT NULL,
  state INTEGER NOT NULL,            -- 1 running, 2 paused, 3 stopped, 4 finished
  state_reason TEXT NOT NULL,
  definition BLOB,                   -- a frame with the Job
  policy BLOB NOT NULL,
  last_epoch INTEGER NOT NULL DEFAULT 0,
  aggregator_residual INTEGER,       -- a blob
  submitted_wall_ns INTEGER NOT NULL
);
CREATE TABLE checkpoints (
  job INTEGER PRIMARY KEY REFERENCES jobs (job),
  model_version INTEGER NOT NULL,
  model_hash INTEGER NOT NULL,
  model INTEGER,                     -- a blob
  rule_state INTEGER,                -- a blob
  stored_wall_ns INTEGER NOT NULL
);
CREATE TABLE epochs (
  epoch_row INTEGER PRIMARY KEY,
  job INTEGER NOT NULL REFERENCES jobs (job),
  epoch INTEGER NOT NULL,
  first_round INTEGER NOT NULL,
  members INTEGER NOT NULL,
  member_list BLOB NOT NULL,         -- each: u16 length, id, f64 weight
  UNIQUE (job, epoch)
);
CREATE TABLE rounds (
  round_row INTEGER PRIMARY KEY,
  job INTEGER NOT NULL REFERENCES jobs (job),
  round INTEGER NOT NULL,
  epoch INTEGER NOT NULL,
  attempt INTEGER NOT NULL,
  journal_entry INTEGER NOT NULL,
  members INTEGER NOT NULL,
  buckets INTEGER NOT NULL,
  previous_hash INTEGER NOT NULL,
  model_hash INTEGER NOT NULL,
  began_at_ns INTEGER NOT NULL,
  committed_at_ns INTEGER NOT NULL,
  committed_wall_ns INTEGER NOT NULL,
  bytes_up INTEGER NOT NULL,
  bytes_down INTEGER NOT NULL,
  outcomes BLOB NOT NULL,            -- each: u32 bucket, u32 contributor set, u64 result hash
  UNIQUE (job, round)
);
CREATE TABLE contributor_sets (
  round_row INTEGER NOT NULL REFERENCES rounds,
  place INTEGER NOT NULL,
  contributors INTEGER NOT NULL,
  divisor REAL NOT NULL,
  bits BLOB NOT NULL,
  PRIMARY KEY (round_row, place)
) WITHOUT ROWID;
CREATE TABLE plans (
  round_row INTEGER PRIMARY KEY REFERENCES rounds,
  trigger_name TEXT,                 -- why the plan is as it is: NULL where the frame does not say
  sentence TEXT,
  codecs TEXT,
  collectives TEXT,
  quorum INTEGER,
  deadline_ms INTEGER,
  frame BLOB                         -- with the Plan
);
-- The combined payloads of the rounds after the checkpoint.
CREATE TABLE redo (
  round_row INTEGER NOT NULL REFERENCES rounds,
  place INTEGER NOT NULL,
  bucket INTEGER NOT NULL,
  stage INTEGER NOT NULL,
  payload INTEGER,                   -- a blob
  PRIMARY KEY (round_row, place)
) WITHOUT ROWID;
)sql";

// Records that only people read.
constexpr std::string_view kViewTables = R"sql(
CREATE TABLE agents (
  agent INTEGER PRIMARY KEY,
  agent_id TEXT NOT NULL UNIQUE,
  incarnation INTEGER,
  build TEXT,
  device_model TEXT,
  connected INTEGER NOT NULL DEFAULT 0,
  job INTEGER,
  model_version INTEGER,
  seen_wall_ns INTEGER NOT NULL
);
CREATE TABLE agent_rounds (
  agent_round INTEGER PRIMARY KEY AUTOINCREMENT,
  at_wall_ns INTEGER NOT NULL,
  job INTEGER NOT NULL,
  round INTEGER NOT NULL,
  epoch INTEGER NOT NULL,
  attempt INTEGER NOT NULL,
  agent INTEGER NOT NULL,
  loss REAL,
  examples INTEGER NOT NULL,
  compute_s REAL,
  encode_s REAL,
  wait_s REAL,
  update_norm REAL,
  residual_norm REAL,
  bytes_up INTEGER NOT NULL,
  bytes_down INTEGER NOT NULL
);
CREATE INDEX agent_rounds_by_round ON agent_rounds (job, round);
CREATE TABLE events (
  event INTEGER PRIMARY KEY AUTOINCREMENT,
  at_wall_ns INTEGER NOT NULL,
  level INTEGER NOT NULL,            -- 0 trace, 1 debug, 2 info, 3 warning, 4 error
  name TEXT NOT NULL,
  reason TEXT NOT NULL,
  source TEXT NOT NULL,
  text TEXT NOT NULL,
  job INTEGER NOT NULL,
  round INTEGER NOT NULL
);
CREATE TABLE metrics (
  metric INTEGER PRIMARY KEY AUTOINCREMENT,
  at_wall_ns INTEGER NOT NULL,
  name TEXT NOT NULL,
  value REAL,                        -- NULL: not a number
  job INTEGER NOT NULL,
  round INTEGER NOT NULL,
  agent_id TEXT NOT NULL
);
CREATE INDEX metrics_by_name ON metrics (name);
CREATE TABLE link_samples (
  link_sample INTEGER PRIMARY KEY AUTOINCREMENT,
  at_wall_ns INTEGER NOT NULL,
  from_id TEXT NOT NULL,             -- empty: the coordinator
  to_id TEXT NOT NULL,
  method INTEGER NOT NULL,           -- 1 passive, 2 active
  alpha_s REAL,
  beta_s_per_byte REAL,
  confidence REAL
);

CREATE VIEW round_overview AS
  SELECT job, round, epoch, attempt, members,
         (SELECT max(contributors) FROM contributor_sets c WHERE c.round_row = r.round_row)
           AS contributors,
         (committed_at_ns - began_at_ns) / 1e9 AS seconds, bytes_up, bytes_down,
         codecs, collectives, trigger_name, sentence,
         datetime(committed_wall_ns / 1000000000, 'unixepoch') AS committed_utc,
         format('%016x', model_hash) AS model_hash
  FROM rounds r JOIN plans p USING (round_row);
)sql";

const std::string kCoordinatorVersion1 = std::string(kRunsTable) + std::string(kBlobTables) +
                                         std::string(kStateTables) + std::string(kViewTables);

// Additional values in agents' reports; NULL in older rows.
constexpr std::string_view kCoordinatorVersion2 = R"sql(
ALTER TABLE agent_rounds ADD COLUMN decode_s REAL;
ALTER TABLE agent_rounds ADD COLUMN gain REAL;
)sql";
// The facts of a round (schemas/mechanisms.fbs), as a FlatBuffer: a further field needs no further
// version. NULL in older rows.
constexpr std::string_view kCoordinatorVersion3 = R"sql(
ALTER TABLE agent_rounds ADD COLUMN mechanisms BLOB;
ALTER TABLE rounds ADD COLUMN mechanisms BLOB;
)sql";
// The time at which a coordinator closed the file with everything in it. NULL: it has the file
// open, or it died, or an earlier build wrote the row.
constexpr std::string_view kCoordinatorVersion4 = R"sql(
ALTER TABLE runs ADD COLUMN closed_wall_ns INTEGER;
)sql";
// Version 5 has slots of large chunks. Released steps never change: a file of any earlier version
// passes through the steps after it.
const std::array<std::string_view, 5> kCoordinatorSteps = {
    kCoordinatorVersion1, kCoordinatorVersion2, kCoordinatorVersion3, kCoordinatorVersion4,
    kBlobSlots};

}  // namespace

const Migrations& coordinator_migrations() {
  static const Migrations migrations({.what = "coordinator's journal",
                                      .application_id = 0x54724364,
                                      .steps = kCoordinatorSteps});  // "TrCd"
  return migrations;
}

}  // namespace tributary
