-- How many questions of one agent wait is counted when it asks another.
CREATE INDEX approvals_pending_of ON approvals (agent, expires_at) WHERE status = 'pending';
