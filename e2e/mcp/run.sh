#!/bin/sh
# Installs the servers as they are pinned and runs the test against them.
set -eu
cd "$(dirname "$0")"
npm ci --no-audit --no-fund --ignore-scripts
exec go test -count=1 "$@" ./...
