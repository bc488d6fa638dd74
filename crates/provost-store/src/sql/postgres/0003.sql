-- How often a question was asked while it waited, and who approved it where one person is not enough.
ALTER TABLE approvals ADD COLUMN asked BIGINT NOT NULL DEFAULT 1;
ALTER TABLE approvals ADD COLUMN votes TEXT;
-- Whether the same was denied before.
CREATE INDEX approvals_by_digest ON approvals (digest);

-- The copies of approvals on channels. `due_at` says when something is to be done with a copy: it is moved on
-- as it is leased, so what a process leaves undone comes up again.
CREATE TABLE deliveries (
    id          TEXT COLLATE "C" PRIMARY KEY,
    approval_id TEXT COLLATE "C" NOT NULL,
    channel     TEXT COLLATE "C" NOT NULL,
    purpose     TEXT NOT NULL,
    after_ms    BIGINT NOT NULL,
    due_at      BIGINT,
    attempts    BIGINT NOT NULL,
    closed      BOOLEAN NOT NULL,
    shown_key   TEXT COLLATE "C",
    shown       TEXT,
    error       TEXT,
    plan        TEXT NOT NULL
);
CREATE INDEX deliveries_due ON deliveries (due_at) WHERE due_at IS NOT NULL;
CREATE INDEX deliveries_of ON deliveries (approval_id);
CREATE INDEX deliveries_shown ON deliveries (channel, shown_key) WHERE shown_key IS NOT NULL;

-- How far a channel has read what people sent.
CREATE TABLE cursors (
    name  TEXT COLLATE "C" PRIMARY KEY,
    value TEXT NOT NULL
);

-- Random bytes that all replicas share: what they sign with.
CREATE TABLE secrets (
    name  TEXT COLLATE "C" PRIMARY KEY,
    value BYTEA NOT NULL
);
