#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
# timeout: 120
# o2g why on the kernel engine: messages that nobody has asked for are in the driver, and
# are seen there, also when the rank they are for is stopped.
. lab/tests/guest.inc
need_driver
export O2G_CHANNELS=tcp

prog=/tmp/why_prog
"$MPICC" -g -O0 -std=gnu11 -o $prog tests/system/why_prog.c || fail "it does not compile"

says()
{
	timeout 60 "$O2G" why "$job" >/tmp/why 2>&1 </dev/null || return
	tr '\n' ' ' </tmp/why | tr -s ' ' >/tmp/words
	grep -Eq -- "$1" /tmp/words
}

# explained CASE PATTERN: soon it is said.
explained()
{
	"$MPIEXEC" -timeout 100 -n 3 $prog "$1" >/tmp/job 2>&1 </dev/null &
	job=$!
	wait_for 40 says "$2" || {
		cat /tmp/job /tmp/why
		fail "$1: no such words: $2"
	}
	kill "$job"
	wait "$job" 2>/dev/null
}

explained tag "Rank 1 waits in MPI_Recv .* tag 8 .* A message has come from rank 0, but with tag 7 .*Rank 1: 1 message: from rank 0, tag 7, on MPI_COMM_WORLD, 4 bytes"
explained stop-late "Rank 1 .* is stopped by a signal, and ranks 0 and 2 wait for it.*Rank 1: 1 message: from rank 0, tag 7, on MPI_COMM_WORLD, 4 bytes"
exit 0
