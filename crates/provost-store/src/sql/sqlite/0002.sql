-- Up to which place `activity`, `totals` and `in_flight` tell of the records. They are written behind the
-- records, in larger steps; after a crash, what the records after this place say is added at the start.
CREATE TABLE behind (place INTEGER NOT NULL) STRICT;
INSERT INTO behind SELECT coalesce(max(place), 0) FROM traces;
