#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
# An error that nobody handles ends the job, in words that name function,
# argument, value, communicator and rank; and O2G_STATS says who talked to whom.
cd "$(dirname "$0")/../.." && . tests/lib.sh
make_tmp
prog=$MPI_TESTS/mistake

# says WHAT CODE PATTERN: a job of two makes this mistake.
says()
{
	timeout 20 "$MPIEXEC" -n 2 "$prog" "$1" >"$TMP/out" 2>"$TMP/err"
	code=$?
	[ $code = "$2" ] || {
		cat "$TMP/err"
		fail "$1: exit code $code, not $2"
	}
	expect "$TMP/err" "$3"
}

says rank 6 'o2g: rank [01] on .*: MPI_Send: dest is 7, but MPI_COMM_WORLD has 2 ranks \(MPI_ERR_RANK\)'
says named 6 'MPI_Recv: source is 9, but my rows has 2 ranks'
says truncate 15 'MPI_Recv: the message of 8 bytes from rank [01] with tag 5 does not fit into a buffer of 4 bytes \(MPI_ERR_TRUNCATE, on MPI_COMM_WORLD\)'
says waitall 19 'MPI_Waitall: the message of 8 bytes'
says before 16 'MPI_Comm_rank: called before MPI_Init'
says after 16 'MPI_Barrier: called after MPI_Finalize'
says twice 16 'MPI_Init: MPI was initialized already'
says abort 42 'MPI_Abort with code 42 on MPI_COMM_WORLD'
expect "$TMP/out" 'said before'
for call in send recv barrier wait; do
	says child_$call 42 'the child of a fork has no MPI: use MPI in the parent only, or exec'
done
says abort256 1 'called MPI_Abort with code 256; the job is ended'

# MPI_ERRORS_ABORT ends those who share the object, and nobody else: of four
# ranks, the last one; the last one; the last two; all.
aborts()
{
	timeout 20 "$MPIEXEC" -n 4 "$MPI_TESTS/errors_abort" "$1" >"$TMP/out" \
		2>"$TMP/err"
	code=$?
	[ $code = "$2" ] || {
		cat "$TMP/err"
		fail "errors_abort $1: exit code $code, not $2"
	}
	[ "$(sort "$TMP/out" | tr '\n' ' ')" = "$3" ] || {
		cat "$TMP/out" "$TMP/err"
		fail "errors_abort $1: others went on than $3"
	}
	expect "$TMP/err" "$4"
}
aborts self 6 "rank 0 goes on rank 1 goes on rank 2 goes on " \
	'rank 3 on .* aborts rank 3 with code 6; the others go on'
aborts session 13 "rank 0 goes on rank 1 goes on rank 2 goes on " \
	'rank 3 on .* aborts rank 3 with code 13; the others go on'
aborts pair 6 "rank 0 goes on rank 1 goes on " \
	'rank 3 on .* aborts ranks 2-3 with code 6; the others go on'
aborts two 6 "rank 0 goes on rank 1 goes on " \
	'rank 2 on .* aborts rank 2 with code 6; the others go on'
aborts world 6 "" 'rank 3 on .* ended after an MPI error \(class 6\); the job is ended'
aborts fatal 6 "" 'rank 3 on .* ended after an MPI error \(class 6\); the job is ended'

# Ten messages each way round, and no others of the program's.
O2G_STATS=1 timeout 20 "$MPIEXEC" -n 3 "$prog" talk >"$TMP/out" 2>"$TMP/err" ||
	fail "talk"
expect "$TMP/err" '^ +from +to +channel +messages +bytes'
expect "$TMP/err" '^ +0 +1 +(shm|tcp) +10 +80$'
expect "$TMP/err" '^ +2 +0 +(shm|tcp) +10 +80$'
# Of twenty reductions all but the first few go through shared memory.
O2G_STATS=1 timeout 20 "$MPIEXEC" -n 3 "$prog" reduce >"$TMP/out" 2>"$TMP/err" ||
	fail "reduce"
expect "$TMP/err" '^ +1 +all +memory +(1[0-9]|2[0-9]) +-$'
O2G_STATS=1 O2G_CHANNELS=tcp timeout 20 "$MPIEXEC" -n 2 "$prog" talk \
	>"$TMP/out" 2>"$TMP/err" || fail "talk over tcp"
expect "$TMP/err" '^ +1 +0 +tcp +10 +80$'
exit 0
