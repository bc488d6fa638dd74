#!/usr/bin/env bash
# Everything that must hold: format, lints, all tests, doc tests. `./test.sh --full` also runs what takes long:
# every cell of the matrix of real agents.
# Installs what is missing from Debian packages; where there is no apt it says what to install.
set -euo pipefail
cd "$(dirname "$0")"

profile=default
peers=()
if [ "${1:-}" = --full ]; then
  profile=full
  peers=(--full)
  shift
fi

say() { printf '\n== %s\n' "$*"; }

# ---- what the tests need: a command or file, and the Debian package it comes in
needs=()
need() { command -v "$1" >/dev/null 2>&1 || [ -x "$1" ] || needs+=("$2"); }
pg_bin() {
  for dir in /usr/lib/postgresql/*/bin "$(dirname "$(command -v initdb 2>/dev/null || echo /nowhere/x)")"; do
    [ -x "$dir/initdb" ] && [ -x "$dir/pg_ctl" ] && echo "$dir"
  done | tail -n 1
}
python() {
  for candidate in "${PROVOST_TEST_PYTHON:-}" python3 /usr/bin/python3; do
    [ -n "$candidate" ] && "$candidate" -c 'import pip, requests' 2>/dev/null && command -v "$candidate" && return
  done
  return 1
}
need cc build-essential
need make build-essential
need curl curl
need jq jq
command -v chromium >/dev/null 2>&1 || needs+=(chromium fonts-dejavu-core)
need node nodejs
need npm npm
[ -n "$(pg_bin)" ] || needs+=(postgresql)
python >/dev/null || needs+=(python3 python3-pip python3-requests)

if [ ${#needs[@]} -gt 0 ]; then
  if command -v apt-get >/dev/null 2>&1; then
    say "installing ${needs[*]}"
    sudo=$([ "$(id -u)" = 0 ] || echo sudo)
    $sudo apt-get update -qq
    DEBIAN_FRONTEND=noninteractive $sudo apt-get install -y -qq --no-install-recommends "${needs[@]}" >/dev/null
  else
    echo "missing, and there is no apt here. Install these (Debian names): ${needs[*]}" >&2
    exit 1
  fi
fi
PROVOST_TEST_PYTHON=$(python) || { echo "python3 with pip and the requests package is needed" >&2; exit 1; }
export PROVOST_TEST_PYTHON

# ---- the programs of others that Provost is tested with: Claude Code, MCP servers and clients
say "peers"
PROVOST_TEST_PEERS=$(scripts/peers.sh "${peers[@]}")
export PROVOST_TEST_PEERS

command -v cargo >/dev/null 2>&1 || { echo "a Rust toolchain is needed: cargo is not found" >&2; exit 1; }
cargo nextest --version >/dev/null 2>&1 || { say "installing cargo-nextest"; cargo install cargo-nextest --locked; }

# ---- a private PostgreSQL cluster in a temporary folder, on loopback, gone at the end
folder=$(mktemp -d "${TMPDIR:-/tmp}/provost-test.XXXXXX")
bin=$(pg_bin)
as_owner() { "$@"; }
if [ "$(id -u)" = 0 ]; then
  # initdb refuses root.
  id postgres >/dev/null 2>&1 || useradd --system --no-create-home postgres
  chown postgres "$folder"
  as_owner() { runuser -u postgres -- "$@"; }
fi
stop_cluster() {
  as_owner "$bin/pg_ctl" -D "$folder/pg" -m immediate stop >/dev/null 2>&1 || true
  rm -rf "$folder"
}
trap stop_cluster EXIT

say "starting PostgreSQL"
as_owner "$bin/initdb" -D "$folder/pg" -U provost --auth=trust -E UTF8 >/dev/null
started=
for _ in 1 2 3 4 5; do
  port=$((20000 + RANDOM % 20000))
  if (cd "$folder" && as_owner "$bin/pg_ctl" -D "$folder/pg" -w -l "$folder/log" \
      -o "-p $port -c listen_addresses=127.0.0.1 -c unix_socket_directories= -c max_connections=300" start >/dev/null); then
    started=1
    break
  fi
done
[ -n "$started" ] || { cat "$folder/log" >&2; exit 1; }
export PROVOST_TEST_POSTGRES="postgres://provost@127.0.0.1:$port/postgres"

# ---- the checks
export RUST_BACKTRACE=0
say "format";    cargo fmt --all --check
say "lints";     cargo clippy --workspace --all-targets --quiet -- -D warnings
# An agent built with the crate of ACP itself, apart from everything else (see its manifest).
say "peer";      cargo build --quiet --locked --manifest-path crates/provost-runner/tests/peer/Cargo.toml \
  --target-dir "${CARGO_TARGET_DIR:-target}/peer"
say "tests";     cargo nextest run --workspace --profile "$profile" "$@"
say "doc tests"; cargo test --workspace --doc --quiet
say "all green"
