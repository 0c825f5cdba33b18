-- A journal of version 1 of the schema, as the sqlite3 tool dumps it. Never changes: later builds must
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
INSERT INTO blobs VALUES(6,16);
INSERT INTO blobs VALUES(7,2);
INSERT INTO blobs VALUES(8,2);
INSERT INTO blobs VALUES(10,2);
INSERT INTO blobs VALUES(11,2);
INSERT INTO blobs VALUES(12,16);
CREATE TABLE blob_chunks (
  blob INTEGER NOT NULL,
  place INTEGER NOT NULL,
  chunk INTEGER NOT NULL,
  bytes INTEGER NOT NULL,
  hash INTEGER NOT NULL,             -- XXH3 of the chunk
  PRIMARY KEY (blob, place)
) WITHOUT ROWID;
INSERT INTO blob_chunks VALUES(6,0,1,16,5750633675890126610);
INSERT INTO blob_chunks VALUES(7,0,6,2,4823829032131676414);
INSERT INTO blob_chunks VALUES(8,0,7,2,4771980914496010191);
INSERT INTO blob_chunks VALUES(10,0,8,2,3689475930155676172);
INSERT INTO blob_chunks VALUES(11,0,9,2,6038250792112241217);
INSERT INTO blob_chunks VALUES(12,0,5,16,333886197391325670);
CREATE TABLE chunks (
  chunk INTEGER PRIMARY KEY,
  data BLOB NOT NULL
);
INSERT INTO chunks VALUES(1,X'0000a0400000c0400000e04000000041');
INSERT INTO chunks VALUES(5,X'00008040000000000000000000000000');
INSERT INTO chunks VALUES(6,X'0103');
INSERT INTO chunks VALUES(7,X'0203');
INSERT INTO chunks VALUES(8,X'0104');
INSERT INTO chunks VALUES(9,X'0204');
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
INSERT INTO jobs VALUES(1,-9223372036854775801,NULL,2,1,2,'by the operator',X'010203',X'010000000a0000007468633a626974733d3402000000040000006670333204000000696e74380000100000000000000000000000d03f0100000001000000000000000000e03f60ea000030750000c800000000000000400000000000000000000040',6,12,946684800000000000);
INSERT INTO jobs VALUES(2,3,NULL,1,0,1,'',NULL,X'010000000400000066703332000000000000100000000000000000000000f03f0100000001000000000000000000e03f60ea000030750000c800000000000000400000000000000000000040',0,NULL,946684800000000000);
CREATE TABLE checkpoints (
  job INTEGER PRIMARY KEY REFERENCES jobs (job),
  model_version INTEGER NOT NULL,
  model_hash INTEGER NOT NULL,
  model INTEGER,                     -- a blob
  rule_state INTEGER,                -- a blob
  stored_wall_ns INTEGER NOT NULL
);
INSERT INTO checkpoints VALUES(-9223372036854775801,2,2,6,NULL,946684800000000000);
INSERT INTO checkpoints VALUES(3,0,0,NULL,NULL,946684800000000000);
CREATE TABLE epochs (
  epoch_row INTEGER PRIMARY KEY,
  job INTEGER NOT NULL REFERENCES jobs (job),
  epoch INTEGER NOT NULL,
  first_round INTEGER NOT NULL,
  members INTEGER NOT NULL,
  member_list BLOB NOT NULL,         -- each: u16 length, id, f64 weight
  UNIQUE (job, epoch)
);
INSERT INTO epochs VALUES(1,-9223372036854775801,5,1,2,X'07006167656e742d31000000000000f03f07006167656e742d32000000000000e03f');
INSERT INTO epochs VALUES(2,-9223372036854775801,6,3,1,X'07006167656e742d31000000000000f03f');
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
INSERT INTO rounds VALUES(1,-9223372036854775801,1,5,0,1,2,2,0,1,10,15,946684800000000000,100,50,X'000000000000000011110000000000000100000001000000010000000000ffff');
INSERT INTO rounds VALUES(2,-9223372036854775801,2,5,1,2,2,2,1,2,20,25,946684800000000000,200,100,X'000000000000000022220000000000000100000001000000020000000000ffff');
INSERT INTO rounds VALUES(3,-9223372036854775801,3,6,0,3,1,2,2,3,30,35,946684800000000000,300,150,X'000000000000000033330000000000000100000001000000030000000000ffff');
INSERT INTO rounds VALUES(4,-9223372036854775801,4,6,0,4,1,2,3,4,40,45,946684800000000000,400,200,X'000000000000000044440000000000000100000001000000040000000000ffff');
CREATE TABLE contributor_sets (
  round_row INTEGER NOT NULL REFERENCES rounds,
  place INTEGER NOT NULL,
  contributors INTEGER NOT NULL,
  divisor REAL NOT NULL,
  bits BLOB NOT NULL,
  PRIMARY KEY (round_row, place)
) WITHOUT ROWID;
INSERT INTO contributor_sets VALUES(1,0,2,1.5,X'03');
INSERT INTO contributor_sets VALUES(1,1,1,1.0,X'01');
INSERT INTO contributor_sets VALUES(2,0,2,1.5,X'03');
INSERT INTO contributor_sets VALUES(2,1,1,1.0,X'01');
INSERT INTO contributor_sets VALUES(3,0,2,1.5,X'03');
INSERT INTO contributor_sets VALUES(3,1,1,1.0,X'01');
INSERT INTO contributor_sets VALUES(4,0,2,1.5,X'03');
INSERT INTO contributor_sets VALUES(4,1,1,1.0,X'01');
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
INSERT INTO plans VALUES(1,NULL,NULL,NULL,NULL,NULL,NULL,X'01');
INSERT INTO plans VALUES(2,NULL,NULL,NULL,NULL,NULL,NULL,X'02');
INSERT INTO plans VALUES(3,NULL,NULL,NULL,NULL,NULL,NULL,X'03');
INSERT INTO plans VALUES(4,NULL,NULL,NULL,NULL,NULL,NULL,X'04');
CREATE TABLE redo (
  round_row INTEGER NOT NULL REFERENCES rounds,
  place INTEGER NOT NULL,
  bucket INTEGER NOT NULL,
  stage INTEGER NOT NULL,
  payload INTEGER,                   -- a blob
  PRIMARY KEY (round_row, place)
) WITHOUT ROWID;
INSERT INTO redo VALUES(3,0,0,0,7);
INSERT INTO redo VALUES(3,1,1,1,8);
INSERT INTO redo VALUES(4,0,0,0,10);
INSERT INTO redo VALUES(4,1,1,1,11);
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
INSERT INTO agents VALUES(1,'agent-1',0,'0.1.0','a board',1,0,0,946684800000000000);
INSERT INTO agents VALUES(2,'agent-2',NULL,NULL,NULL,0,NULL,NULL,946684800000000000);
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
INSERT INTO agent_rounds VALUES(1,946684800000000000,-9223372036854775801,1,5,0,2,0.5,0,0.0,0.0,0.0,0.0,0.0,0,0);
INSERT INTO agent_rounds VALUES(2,946684800000000000,-9223372036854775801,2,5,1,2,0.5,0,0.0,0.0,0.0,0.0,0.0,0,0);
INSERT INTO agent_rounds VALUES(3,946684800000000000,-9223372036854775801,3,6,0,2,0.5,0,0.0,0.0,0.0,0.0,0.0,0,0);
INSERT INTO agent_rounds VALUES(4,946684800000000000,-9223372036854775801,4,6,0,2,0.5,0,0.0,0.0,0.0,0.0,0.0,0,0);
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
INSERT INTO events VALUES(1,946684800000000000,2,'round_committed','','','round 4',0,0);
CREATE TABLE metrics (
  metric INTEGER PRIMARY KEY AUTOINCREMENT,
  at_wall_ns INTEGER NOT NULL,
  name TEXT NOT NULL,
  value REAL,                        -- NULL: not a number
  job INTEGER NOT NULL,
  round INTEGER NOT NULL,
  agent_id TEXT NOT NULL
);
INSERT INTO metrics VALUES(1,946684800000000000,'round_s',0.5,0,0,'');
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
INSERT INTO link_samples VALUES(1,946684800000000000,'agent-1','',0,0.010000000000000000208,0.0,0.0);
DELETE FROM sqlite_sequence;
INSERT INTO sqlite_sequence VALUES('jobs',3);
INSERT INTO sqlite_sequence VALUES('agent_rounds',4);
INSERT INTO sqlite_sequence VALUES('events',1);
INSERT INTO sqlite_sequence VALUES('metrics',1);
INSERT INTO sqlite_sequence VALUES('link_samples',1);
CREATE INDEX agent_rounds_by_round ON agent_rounds (job, round);
CREATE INDEX metrics_by_name ON metrics (name);
CREATE VIEW round_overview AS
  SELECT job, round, epoch, attempt, members,
         (SELECT max(contributors) FROM contributor_sets c WHERE c.round_row = r.round_row)
           AS contributors,
         (committed_at_ns - began_at_ns) / 1e9 AS seconds, bytes_up, bytes_down,
         codecs, collectives, trigger_name, sentence,
         datetime(committed_wall_ns / 1000000000, 'unixepoch') AS committed_utc,
         format('%016x', model_hash) AS model_hash
  FROM rounds r JOIN plans p USING (round_row);
COMMIT;
PRAGMA application_id = 1416774500;
PRAGMA user_version = 1;
