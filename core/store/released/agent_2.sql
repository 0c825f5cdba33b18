-- A journal of version 2 of the schema, as the sqlite3 tool dumps it. Never changes: later builds must
-- read it (core/store/migrations_test.cc).
PRAGMA foreign_keys=OFF;
BEGIN TRANSACTION;
CREATE TABLE runs (
  run INTEGER PRIMARY KEY,
  began_wall_ns INTEGER NOT NULL
);
INSERT INTO runs VALUES(1,946684800000000000);
CREATE TABLE blobs (
  blob INTEGER PRIMARY KEY,
  bytes INTEGER NOT NULL
);
INSERT INTO blobs VALUES(1,16);
INSERT INTO blobs VALUES(2,1);
INSERT INTO blobs VALUES(3,16);
INSERT INTO blobs VALUES(4,8);
CREATE TABLE blob_chunks (
  blob INTEGER NOT NULL,
  place INTEGER NOT NULL,
  chunk INTEGER NOT NULL,
  bytes INTEGER NOT NULL,
  hash INTEGER NOT NULL,             -- XXH3 of the chunk
  PRIMARY KEY (blob, place)
) WITHOUT ROWID;
INSERT INTO blob_chunks VALUES(1,0,1,16,-6327748590616638028);
INSERT INTO blob_chunks VALUES(2,0,2,1,-2220562881957146901);
INSERT INTO blob_chunks VALUES(3,0,3,16,2638614861550315211);
INSERT INTO blob_chunks VALUES(4,0,4,8,-6152920228427449321);
CREATE TABLE chunks (
  chunk INTEGER PRIMARY KEY,
  data BLOB NOT NULL
);
INSERT INTO chunks VALUES(1,X'0000803f000000400000404000008040');
INSERT INTO chunks VALUES(2,X'01');
INSERT INTO chunks VALUES(3,X'0000803f000000000000003f00000040');
INSERT INTO chunks VALUES(4,X'0000003f00000000');
CREATE TABLE job (
  one INTEGER PRIMARY KEY CHECK (one = 1),
  job INTEGER NOT NULL,
  revision INTEGER NOT NULL,
  change INTEGER NOT NULL,
  state INTEGER NOT NULL,
  definition BLOB
);
INSERT INTO job VALUES(1,7,1,2,1,X'0405');
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
INSERT INTO replica VALUES(1,7,11259375,3,11,-256,1,2);
CREATE TABLE residual (
  one INTEGER PRIMARY KEY CHECK (one = 1),
  version INTEGER NOT NULL,
  learning_rate REAL NOT NULL,
  updates_taken INTEGER NOT NULL,
  update_round INTEGER NOT NULL,
  residual INTEGER                   -- a blob
, part_round INTEGER NOT NULL DEFAULT 0, part_first INTEGER NOT NULL DEFAULT 0);
INSERT INTO residual VALUES(1,11,0.25,12,12,3,12,2);
CREATE TABLE undecided (
  undecided INTEGER PRIMARY KEY,
  job INTEGER NOT NULL,
  round INTEGER NOT NULL,
  epoch INTEGER NOT NULL,
  attempt INTEGER NOT NULL,
  agent_index INTEGER NOT NULL,
  UNIQUE (job, round, epoch, attempt)
);
INSERT INTO undecided VALUES(1,7,12,3,0,1);
CREATE TABLE parts (
  undecided INTEGER NOT NULL REFERENCES undecided,
  bucket INTEGER NOT NULL,
  first_value INTEGER NOT NULL,
  if_committed INTEGER, value_count INTEGER NOT NULL DEFAULT 0,              -- a blob: the residual of the bucket if the round counts
  PRIMARY KEY (undecided, bucket)
) WITHOUT ROWID;
INSERT INTO parts VALUES(1,0,0,4,2);
INSERT INTO parts VALUES(1,1,2,NULL,2);
COMMIT;
PRAGMA application_id = 1416773991;
PRAGMA user_version = 2;
