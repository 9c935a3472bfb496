#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
# Exit codes, and one clear line when a rank fails; within a second.
cd "$(dirname "$0")/../.." && . tests/lib.sh && . tests/system/launch.inc

# ends CODE LINE ARGUMENTS: all ends with this code and just this line.
ends()
{
	local code=$1 line=$2 start took

	shift 2
	start=$(now_ms)
	run "$@"
	took=$(($(now_ms) - start))
	expect_rc "$code"
	expect "$TMP/err" "$line"
	[ "$(grep -c '^mpiexec: ' "$TMP/err")" = 1 ] ||
		fail "more than one line: $(cat "$TMP/err")"
	[ $took -lt 2000 ] || fail "$took ms to end the job"
}

host=$(hostname)
ends 3 "^mpiexec: rank 1 on $host exited with code 3; the job is ended" \
	-n 2 sh -c '[ $PMI_RANK = 1 ] && exit 3; sleep 10'
ends 7 "^mpiexec: rank 2 on $host called MPI_Abort with code 7; the job is" \
	-n 3 "$PROG" abort 7
expect "$TMP/err" '^o2g: asked to'
ends 1 "^mpiexec: rank 2 on $host called MPI_Abort with code 0; the job is" \
	-n 3 "$PROG" abort 0
ends 23 'rank 0 on .* called MPI_Abort with code 23' \
	-n 2 "$PROG" abort-in-barrier
ends 9 "rank 2 on $host exited with code 9 before MPI_Finalize; the job is" \
	-n 3 "$PROG" exit-early 9
ends 1 "rank 2 on $host exited with code 0 before MPI_Finalize; the job is" \
	-n 3 "$PROG" exit-early 0
ends 5 "rank 2 on $host exited with code 5$" -n 3 "$PROG" exit-late 5
ends 137 "rank 2 on $host was killed by signal 9 \(Killed\); the job is ended" \
	-n 3 "$PROG" kill-self 9
ends 139 "rank 0 on $host was killed by signal 11 \(Segmentation fault\)" \
	-n 1 sh -c 'kill -SEGV $$'
ends 1 "rank 0 on $host has ended without calling MPI_Init, and other ranks" \
	-n 1 true : -n 1 "$PROG"
ends 124 'has run for 1 s' -timeout 1 -n 2 sleep 20

# A rank that ignores SIGTERM does not hold up the end.
ends 4 'rank 1 .* exited with code 4' \
	-n 2 sh -c 'trap "" TERM; [ $PMI_RANK = 1 ] && exit 4; sleep 10; sleep 10'
# One that does not has the time for a last word.
ends 4 'rank 1 .* exited with code 4' -n 2 sh -c '
	trap "echo saved; exit 0" TERM
	[ $PMI_RANK = 1 ] && sleep 0.2 && exit 4
	sleep 10 & wait'
expect "$TMP/out" saved

# The others notice a death before we do: the death is the reason.
ends 137 'rank 1 on .* was killed by signal 9' -n 3 "$PROG" kill-and-abort

# On wish the others go on.
run -disable-auto-cleanup -n 2 sh -c '[ $PMI_RANK = 1 ] && exit 3; sleep 0.5
	echo still here'
expect_rc 3
expect "$TMP/out" 'still here'
expect "$TMP/err" "^mpiexec: rank 1 on $host exited with code 3; the others go on$"
ends 3 "^mpiexec: rank 0 on $host exited with code 3$" \
	-disable-auto-cleanup -n 1 sh -c 'exit 3'
# ... unless they wait for that rank.
ends 1 "rank 0 on $host has ended without calling MPI_Init, and other ranks are waiting for it; the job is ended$" \
	-disable-auto-cleanup -n 1 true : -n 1 "$PROG"
ends 1 "rank 1 on $host has ended without calling MPI_Init, and other ranks are waiting for it; the job is ended$" \
	-disable-auto-cleanup -n 1 "$PROG" : -n 1 sleep 0.3
# ... or one wants all to end, be it the first that fails or a later one.
ends 7 "rank 2 on $host called MPI_Abort with code 7; the job is ended$" \
	-disable-auto-cleanup -n 3 "$PROG" abort 7
run -disable-auto-cleanup -n 1 sh -c 'exit 3' : -n 1 sleep 30 : \
	-n 1 sh -c "sleep 0.5; exec $PROG abort 7"
expect_rc 3
expect "$TMP/err" "^mpiexec: rank 0 on $host exited with code 3; the others go on$"
expect "$TMP/err" "^mpiexec: rank 2 on $host called MPI_Abort with code 7; the job is ended$"

run -n 4 "$PROG" board
expect_rc 0
expect_lines "$TMP/err" 0
exit 0
