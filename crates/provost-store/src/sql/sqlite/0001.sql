-- The record. There is one chain, `main`, so a record's place is also its number in the chain.
-- `body` stands last: what filters and pruning read lies before it, never on an overflow page.
CREATE TABLE traces (
    place     INTEGER PRIMARY KEY,
    trace_id  TEXT NOT NULL,
    kind      TEXT NOT NULL,
    at        INTEGER NOT NULL,
    agent     TEXT NOT NULL,
    session   TEXT,
    tool      TEXT NOT NULL,
    verdict   TEXT NOT NULL,
    forwarded INTEGER NOT NULL,
    hash      BLOB NOT NULL,
    body      TEXT NOT NULL
) STRICT;
CREATE INDEX traces_by_id ON traces (trace_id);

-- In which blocks of 4096 places an agent (1), a session (2) or a tool (3) occurs.
CREATE TABLE sightings (
    what  INTEGER NOT NULL,
    name  TEXT NOT NULL,
    block INTEGER NOT NULL,
    PRIMARY KEY (what, name, block)
) STRICT, WITHOUT ROWID;

CREATE TABLE chains (
    chain       TEXT PRIMARY KEY,
    anchor_seq  INTEGER NOT NULL,
    anchor_hash BLOB NOT NULL,
    head_seq    INTEGER NOT NULL,
    head_hash   BLOB NOT NULL
) STRICT, WITHOUT ROWID;

-- Calls let through whose outcome is not recorded yet, and the run of the gateway that waits for it.
CREATE TABLE in_flight (
    trace_id TEXT PRIMARY KEY,
    owner    TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- An empty session stands for none.
CREATE TABLE activity (
    agent    TEXT NOT NULL,
    session  TEXT NOT NULL,
    first_at INTEGER NOT NULL,
    last_at  INTEGER NOT NULL,
    calls    INTEGER NOT NULL,
    denied   INTEGER NOT NULL,
    PRIMARY KEY (agent, session)
) STRICT, WITHOUT ROWID;

CREATE TABLE totals (
    agent TEXT PRIMARY KEY,
    calls INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE idempotency (
    agent    TEXT NOT NULL,
    key      TEXT NOT NULL,
    digest   TEXT NOT NULL,
    trace_id TEXT NOT NULL,
    at       INTEGER NOT NULL,
    answer   TEXT,
    PRIMARY KEY (agent, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX idempotency_by_age ON idempotency (at);

CREATE TABLE approvals (
    place            INTEGER PRIMARY KEY AUTOINCREMENT,
    id               TEXT NOT NULL UNIQUE,
    trace_id         TEXT NOT NULL,
    digest           TEXT NOT NULL,
    agent            TEXT NOT NULL,
    session          TEXT,
    tool             TEXT NOT NULL,
    created_at       INTEGER NOT NULL,
    status           TEXT NOT NULL,
    level            TEXT NOT NULL,
    expires_at       INTEGER NOT NULL,
    supervisor_until INTEGER,
    permit_until     INTEGER,
    answered_at      INTEGER,
    claim_by         TEXT,
    claim_until      INTEGER,
    -- When a pending approval next needs looking at: its time at its level is over.
    due_at           INTEGER NOT NULL,
    decision         TEXT,
    escalation       TEXT,
    question         TEXT NOT NULL
) STRICT;
-- An index ends with the row's place, so this one also gives its rows in order.
CREATE INDEX approvals_by_status ON approvals (status);
CREATE INDEX approvals_open ON approvals (digest) WHERE answered_at IS NULL;
CREATE INDEX approvals_due ON approvals (due_at) WHERE status = 'pending';

CREATE TABLE grants (
    place      INTEGER PRIMARY KEY AUTOINCREMENT,
    id         TEXT NOT NULL UNIQUE,
    uses       INTEGER NOT NULL,
    max_uses   INTEGER,
    expires_at INTEGER,
    revoked_at INTEGER,
    body       TEXT NOT NULL
) STRICT;

CREATE TABLE stops (
    scope TEXT PRIMARY KEY,
    body  TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE keys (
    name TEXT PRIMARY KEY,
    hash BLOB NOT NULL,
    body TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE control (version INTEGER NOT NULL) STRICT;
INSERT INTO control VALUES (1);

CREATE TABLE events (
    id   INTEGER PRIMARY KEY,
    at   INTEGER NOT NULL,
    body TEXT NOT NULL
) STRICT;
CREATE TABLE event_counter (last INTEGER NOT NULL) STRICT;
INSERT INTO event_counter VALUES (0);

-- Trace ids that callers chose. Ours need no place here: they are random.
CREATE TABLE given_trace_ids (
    id TEXT PRIMARY KEY,
    at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
