-- Tells this store from every other one, also from an empty one at the same place.
CREATE TABLE identity (
    id TEXT COLLATE "C" NOT NULL
);
INSERT INTO identity VALUES (replace(gen_random_uuid()::text, '-', ''));
