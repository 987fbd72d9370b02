#!/bin/sh
# Runs test files as if at another date: scripts/test-at.sh '2028-02-29 23:50' test/routes/tasks.test.ts …
# The date is one of TZ, or of Berlin, which changes its clocks. It needs libfaketime (a package of Debian). The offset is relative: an
# absolute date would begin anew in each child. Monotonic time, and the times of files and processes, stay real. The "monotonic fix" of
# libfaketime is off: with it Chromium spins.
set -eu
export TZ="${TZ:-Europe/Berlin}" FAKETIME_DONT_FAKE_MONOTONIC=1 FAKETIME_FORCE_MONOTONIC_FIX=0 NO_FAKE_STAT=1
FAKETIME="$(printf '%+ds' $(($(date -d "$1" +%s) - $(date +%s))))"
LD_PRELOAD="${FAKETIME_LIBRARY:-/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1}"
export FAKETIME LD_PRELOAD
shift
exec npx tap --jobs=1 --disable-coverage "$@"
