#!/usr/bin/env bash
# Shows with every real agent that a yes to one call releases no other: not in the same turn or the next, with the same
# id or title, in another folder or file, nor after the runner was killed and the session goes on.
set -euo pipefail
cd "$(dirname "$0")/.."

PROVOST_TEST_PEERS=$(scripts/peers.sh)
export PROVOST_TEST_PEERS
exec cargo nextest run -p provost --profile full -E 'test(/::one_yes_/)' "$@"
