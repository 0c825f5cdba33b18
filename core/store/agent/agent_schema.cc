#include "core/store/agent/agent_schema.h"

#include <array>
#include <string>

#include "core/store/agent/agent_runs.h"
#include "core/store/agent/download_rows.h"
#include "core/store/database/blobs.h"
#include "core/store/database/journal.h"

namespace tributary {
namespace {

// An agent has one job, one replica and one residual, so these tables have at most one row.
constexpr std::string_view kTables = R"sql(
CREATE TABLE job (
  one INTEGER PRIMARY KEY CHECK (one = 1),
  job INTEGER NOT NULL,
  revision INTEGER NOT NULL,
  change INTEGER NOT NULL,
  state INTEGER NOT NULL,
  definition BLOB
);
CREATE TABLE replica (
  one INTEGER PRIMARY KEY CHECK (one = 1),
  job INTEGER NOT NULL,
  layer_map_hash INTEGER NOT NULL,
  epoch INTEGER NOT NULL,
  model_version INTEGER NOT NULL,
  model_hash INTEGER NOT NULL,
  model INTEGER,                     -- a blob
  rule_state INTEGER                 -- a blob
);
-- Newer than the replica where an update has been added to it since.
CREATE TABLE residual (
  one INTEGER PRIMARY KEY CHECK (one = 1),
  version INTEGER NOT NULL,
  learning_rate REAL NOT NULL,
  updates_taken INTEGER NOT NULL,
  update_round INTEGER NOT NULL,
  residual INTEGER                   -- a blob
);
-- Rounds that this agent has contributed to without knowing yet what became of them.
CREATE TABLE undecided (
  undecided INTEGER PRIMARY KEY,
  job INTEGER NOT NULL,
  round INTEGER NOT NULL,
  epoch INTEGER NOT NULL,
  attempt INTEGER NOT NULL,
  agent_index INTEGER NOT NULL,
  UNIQUE (job, round, epoch, attempt)
);
CREATE TABLE parts (
  undecided INTEGER NOT NULL REFERENCES undecided,
  bucket INTEGER NOT NULL,
  first_value INTEGER NOT NULL,
  if_committed INTEGER,              -- a blob: the residual of the bucket if the round counts
  PRIMARY KEY (undecided, bucket)
) WITHOUT ROWID;
)sql";

const std::string kAgentVersion1 =
    std::string(kRunsTable) + std::string(kBlobTables) + std::string(kTables);
// A bucket without remaining values has no blob, so its size is stored here.
constexpr std::string_view kAgentVersion2 =
    "ALTER TABLE parts ADD COLUMN value_count INTEGER NOT NULL DEFAULT 0;"
    "ALTER TABLE residual ADD COLUMN part_round INTEGER NOT NULL DEFAULT 0;"
    "ALTER TABLE residual ADD COLUMN part_first INTEGER NOT NULL DEFAULT 0;";
constexpr std::string_view kAgentVersion3 = kDownloadTables;
// The stamp of a round's parts. Before version 4 the residual contained everything that the parts
// do, so that zeros are right.
constexpr std::string_view kAgentVersion4 =
    "ALTER TABLE undecided ADD COLUMN learning_rate REAL NOT NULL DEFAULT 0;"
    "ALTER TABLE undecided ADD COLUMN updates_taken INTEGER NOT NULL DEFAULT 0;"
    "ALTER TABLE undecided ADD COLUMN update_round INTEGER NOT NULL DEFAULT 0;"
    "ALTER TABLE undecided ADD COLUMN part_round INTEGER NOT NULL DEFAULT 0;"
    "ALTER TABLE undecided ADD COLUMN part_first INTEGER NOT NULL DEFAULT 0;";
// Released steps never change: a file of any earlier version passes through the steps after it.
const std::array<std::string_view, 6> kAgentSteps = {
    kAgentVersion1, kAgentVersion2, kAgentVersion3, kAgentVersion4, kAgentRunColumns, kBlobSlots};

}  // namespace

const Migrations& agent_migrations() {
  static const Migrations migrations(
      {.what = "agent's journal", .application_id = 0x54724167, .steps = kAgentSteps});  // "TrAg"
  return migrations;
}

}  // namespace tributary
