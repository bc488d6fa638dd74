-- What the tools of upstream MCP servers said of themselves when they were first seen or accepted.
CREATE TABLE tool_pins (
    server     TEXT NOT NULL,
    tool       TEXT NOT NULL,
    digest     TEXT NOT NULL,
    definition TEXT NOT NULL,
    at         BIGINT NOT NULL,
    by         TEXT,
    PRIMARY KEY (server, tool)
);
