#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
# Standard input, and output that nobody reads or that is read slowly.
cd "$(dirname "$0")/../.." && . tests/lib.sh && . tests/system/launch.inc

seq 1 300000 >"$TMP/in"
STDIN=$TMP/in

run -n 2 sh -c '[ $PMI_RANK = 0 ] && exec cat; n=$(wc -c); echo $n >&2'
expect_rc 0
cmp "$TMP/in" "$TMP/out" || fail "rank 0 did not get all of stdin"
expect "$TMP/err" '^0$'

run -stdin 1 -n 2 sh -c '[ $PMI_RANK = 1 ] && exec cat; wc -c >&2'
expect_rc 0
cmp "$TMP/in" "$TMP/out" || fail "rank 1 did not get all of stdin"
expect "$TMP/err" '^0$'

run -stdin all -n 3 sh -c 'cksum'
expect_rc 0
expect_lines "$TMP/out" 3
[ "$(sort -u "$TMP/out")" = "$(cksum <"$TMP/in")" ] ||
	fail "not everybody got all of stdin"

run -stdin none -n 2 wc -c
expect_rc 0
sorted_is "0
0"

# Ranks that do not read theirs, or only the start.
run -n 2 true
expect_rc 0
run -n 1 head -n 1
expect_rc 0
sorted_is 1

# A reader that goes away ends the job, as it would end any program.
timeout 10 "$MPIEXEC" -n 2 yes </dev/null 2>"$TMP/err" | head -n 1 >"$TMP/out"
rc=${PIPESTATUS[0]}
expect_rc 141

# A slow one makes the job wait; memory is not filled, a barrier still passes.
timeout 20 "$MPIEXEC" -n 2 sh -c '
	"$1" barriers 1 >&2
	[ $PMI_RANK = 0 ] && head -c 20000000 /dev/zero
	exit 0' x "$PROG" </dev/null 2>"$TMP/err" |
	(sleep 1; rss=$(ps -o rss= -C mpiexec -C o2g-proxy | sort -n | tail -n 1)
	echo "$rss" >"$TMP/rss"; wc -c) >"$TMP/out"
sorted_is 20000000
[ "$(cat "$TMP/rss")" -lt 65536 ] || fail "output is piled up in memory"
expect "$TMP/err" 'rank 1 barriers ok'

# Full disk.
if [ -e /dev/full ]; then
	timeout 10 "$MPIEXEC" -n 1 yes </dev/null >/dev/full 2>"$TMP/err"
	rc=$?
	expect_rc 1
	expect "$TMP/err" 'cannot write to standard output: No space left'
fi
exit 0
