#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
# timeout: 60
# A peer that is slow when it is called for the first time, for longer than
# O2G_TCP_TIMEOUT: stopped, as by a debugger, or computing without a progress thread.
# Nobody is lost, and whoever waits says so once.
cd "$(dirname "$0")/../.." && . tests/lib.sh
make_tmp
export O2G_CHANNELS=tcp O2G_TCP_TIMEOUT=1

# contact HOW: and continue rank 1, should it have stopped, after three seconds.
contact()
{
	local pid code

	timeout 25 "$MPIEXEC" -n 2 "$MPI_TESTS/slow_contact" "$1" >"$TMP/out" 2>&1 &
	pid=$!
	wait_for 10 grep -q '^slow' "$TMP/out" || { cat "$TMP/out"; fail "$1: no start"; }
	sleep 3
	kill -CONT "$(sed -n 's/^slow //p' "$TMP/out")" 2>/dev/null
	wait $pid
	code=$?
	[ $code = 0 ] || { cat "$TMP/out"; fail "$1: the job ended with $code"; }
	expect "$TMP/out" 'rank 0 has sent'
	expect "$TMP/out" 'rank 1 on .* has not answered for 1 s, but its host has'
}

contact stop
O2G_PROGRESS_THREAD=0 contact compute
exit 0
