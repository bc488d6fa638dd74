-- How often a question was asked while it waited, and who approved it where one person is not enough.
ALTER TABLE approvals ADD COLUMN asked INTEGER NOT NULL DEFAULT 1;
ALTER TABLE approvals ADD COLUMN votes TEXT;
-- Whether the same was denied before.
CREATE INDEX approvals_by_digest ON approvals (digest);

-- The copies of approvals on channels. `due_at` says when something is to be done with a copy: it is moved on
-- as it is leased, so what a process leaves undone comes up again.
CREATE TABLE deliveries (
    id          TEXT PRIMARY KEY,
    approval_id TEXT NOT NULL,
    channel     TEXT NOT NULL,
    purpose     TEXT NOT NULL,
    after_ms    INTEGER NOT NULL,
    due_at      INTEGER,
    leased      INTEGER NOT NULL DEFAULT 0,
    attempts    INTEGER NOT NULL,
    closed      INTEGER NOT NULL,
    shown_key   TEXT,
    shown       TEXT,
    error       TEXT,
    plan        TEXT NOT NULL
) STRICT;
CREATE INDEX deliveries_due ON deliveries (due_at) WHERE due_at IS NOT NULL;
CREATE INDEX deliveries_of ON deliveries (approval_id);
CREATE INDEX deliveries_shown ON deliveries (channel, shown_key) WHERE shown_key IS NOT NULL;

CREATE TRIGGER approval_forgotten AFTER DELETE ON approvals
BEGIN
    DELETE FROM deliveries WHERE approval_id = OLD.id;
END;

-- How far a channel has read what people sent.
CREATE TABLE cursors (
    name  TEXT PRIMARY KEY,
    value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- Random bytes that all replicas share: what they sign with.
CREATE TABLE secrets (
    name  TEXT PRIMARY KEY,
    value BLOB NOT NULL
) STRICT, WITHOUT ROWID;
