-- Tells this store from every other one, also from an empty one at the same place.
CREATE TABLE identity (
    id TEXT NOT NULL
) STRICT;
INSERT INTO identity VALUES (lower(hex(randomblob(16))));
