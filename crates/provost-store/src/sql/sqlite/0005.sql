-- Who is signed in to the console: found by the hash of what a browser keeps.
CREATE TABLE sign_ins (
    secret  BLOB PRIMARY KEY,
    key     BLOB NOT NULL,
    since   INTEGER NOT NULL,
    seen_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX sign_ins_of ON sign_ins (key, seen_at);

-- Links that sign in once.
CREATE TABLE sign_in_links (
    secret BLOB PRIMARY KEY,
    key    BLOB NOT NULL,
    until  INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX sign_in_links_of ON sign_in_links (key, until);

-- What one replica does at a time.
CREATE TABLE leases (
    name   TEXT PRIMARY KEY,
    holder TEXT NOT NULL,
    until  INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
