-- Who is signed in to the console: found by the hash of what a browser keeps.
CREATE TABLE sign_ins (
    secret  BYTEA PRIMARY KEY,
    key     BYTEA NOT NULL,
    since   BIGINT NOT NULL,
    seen_at BIGINT NOT NULL
);
CREATE INDEX sign_ins_of ON sign_ins (key, seen_at);

-- Links that sign in once.
CREATE TABLE sign_in_links (
    secret BYTEA PRIMARY KEY,
    key    BYTEA NOT NULL,
    until  BIGINT NOT NULL
);
CREATE INDEX sign_in_links_of ON sign_in_links (key, until);

-- What one replica does at a time.
CREATE TABLE leases (
    name   TEXT COLLATE "C" PRIMARY KEY,
    holder TEXT COLLATE "C" NOT NULL,
    until  BIGINT NOT NULL
);
