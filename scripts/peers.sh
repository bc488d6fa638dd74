#!/usr/bin/env bash
# Installs the peers pinned in peers.pins below target/peers and prints their folder. `peers.sh --full` adds those
# that only `./test.sh --full` needs, in the folder `more`.
# A folder is named after everything it depends on and appears only when it is whole, so that it is
# installed once and never taken half done.
set -euo pipefail
cd "$(dirname "$0")/.."

pins=scripts/peers.pins
python=${PROVOST_TEST_PYTHON:-python3}
cache=${CARGO_TARGET_DIR:-$PWD/target}/peers
of() { awk -v kind="$1" '$1 == kind { print $2 (kind ~ /^npm/ ? "@" : "==") $3 }' "$pins"; }

newer=$(node -p 'const [a, b] = process.versions.node.split("."); a > 18 || (a == 18 && b >= 20)')
[ "$newer" = true ] || { echo "the peers of the tests need node 18.20 or newer, and this is $(node --version)" >&2; exit 1; }

key=$({ cat "$pins" "$0"; node --version; "$python" --version; uname -sm; } | sha256sum | cut -c 1-16)
folder=$cache/$key
mkdir -p "$cache"
part=$(mktemp -d "$cache/part.XXXXXX")
trap 'rm -rf "$part"' EXIT
# Some tests run as a user who may do little.
chmod 755 "$part"
log=$part/log
quietly() { "$@" >"$log" 2>&1 || { cat "$log" >&2; echo "cannot install the peers of the tests: $1 failed" >&2; exit 1; }; }

# The adapter asks for a newer node than Debian's, and runs with it all the same.
npm_install() {
  mapfile -t packages < <(of "$1")
  quietly npm install --prefix "$part" --no-save --no-package-lock --no-audit --no-fund \
    --engine-strict=false --include=optional "${packages[@]}"
}
# Whoever was faster installed the same.
finish() {
  rm -f "$log"
  mv -T "$part" "$1" 2>/dev/null || [ -d "$1" ]
}

if [ -d "$folder" ]; then
  if [ "${1:-}" = --full ] && [ ! -d "$folder/more" ]; then
    npm_install npm-full
    finish "$folder/more"
  fi
  echo "$folder"
  exit
fi

npm_install npm
mapfile -t packages < <(of pypi)
quietly "$python" -m pip install --quiet --disable-pip-version-check --target "$part/python" "${packages[@]}"

claude=$(ls "$part"/node_modules/@anthropic-ai/claude-agent-sdk-*/claude 2>/dev/null | head -n 1)
wanted=$(awk '$1 == "claude" { print $2 }' "$pins")
version=$("${claude:-false}" --version 2>/dev/null || true)
[ "${version%% *}" = "$wanted" ] || { echo "the adapter should bring Claude Code $wanted, and brought '$version'" >&2; exit 1; }

finish "$folder"
find "$cache" -mindepth 1 -maxdepth 1 ! -name "$key" ! -name 'part.*' -exec rm -rf {} +
find "$cache" -mindepth 1 -maxdepth 1 -name 'part.*' -mmin +60 -exec rm -rf {} +
[ "${1:-}" != --full ] || exec scripts/peers.sh --full
echo "$folder"
