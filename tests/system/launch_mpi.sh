#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
# Real MPI programs: ours under our mpiexec and under Hydra, MPICH's under ours.
cd "$(dirname "$0")/../.." && . tests/lib.sh && . tests/system/launch.inc

"$MPICC" -O1 -o "$TMP/ours" tests/system/launch_mpi.c || fail "mpicc"

three="rank 0 of 3 sum 3
rank 1 of 3 sum 3
rank 2 of 3 sum 3"

run -n 3 "$TMP/ours"
expect_rc 0
sorted_is "$three"
run -n 2 "$TMP/ours" : -n 1 "$TMP/ours"
expect_rc 0
sorted_is "$three"
run -n 1 "$TMP/ours"
expect_rc 0
timeout 10 "$TMP/ours" </dev/null >"$TMP/out" 2>"$TMP/err"
rc=$?
expect_rc 0
sorted_is "rank 0 of 1 sum 0"

run -n 3 "$TMP/ours" abort
expect_rc 42
expect "$TMP/err" '^mpiexec: rank 2 on .* called MPI_Abort with code 42; the job is ended'

# A rank is killed: the others learn which one, and all ends within a second.
start=$(now_ms)
run -n 3 "$TMP/ours" die
took=$(($(now_ms) - start))
expect_rc 137
expect "$TMP/err" '^mpiexec: rank 2 on .* was killed by signal 9 \(Killed\); the job is ended'
[ "$(grep -c '^mpiexec: ' "$TMP/err")" = 1 ] || fail "more than one line"
expect "$TMP/err" '^o2g: rank [01] on .*rank 2'
[ $took -lt 2000 ] || fail "$took ms to end the job"

# A rank that others want to make a communicator with, and that never comes.
"$MPICC" -O1 -o "$TMP/some" tests/mpi/session_some.c || fail "mpicc"
run -env NEVER 1 -n 4 "$TMP/some"
expect_rc 1
expect "$TMP/err" '^mpiexec: rank 1 on .* has ended without calling MPI_Init, and other ranks are waiting for it; the job is ended'
run -agent "/bin/sh -c 'shift; exec \"\$@\"' x" -hosts a,b,c -n 5 "$TMP/some"
expect_rc 0

# No silent rank 0.
OMPI_COMM_WORLD_SIZE=2 timeout 10 "$TMP/ours" </dev/null >"$TMP/out" \
	2>"$TMP/err"
[ $? != 0 ] || fail "runs as a rank 0 of 1 under another launcher"
expect_lines "$TMP/out" 0
expect "$TMP/err" "started by Open MPI's mpirun"

if command -v mpiexec.hydra >/dev/null; then
	timeout 20 mpiexec.hydra -n 3 "$TMP/ours" </dev/null >"$TMP/out" \
		2>"$TMP/err"
	rc=$?
	expect_rc 0
	sorted_is "$three"
	# Only some ranks talk to others; where all have to wait, they do.
	timeout 20 mpiexec.hydra -genv ALL 1 -n 4 "$TMP/some" </dev/null \
		>"$TMP/out" 2>"$TMP/err"
	rc=$?
	expect_rc 0
else
	echo "not tested: Hydra, which is in Debian's package mpich"
fi
# Debian's mpich has the wrapper, but not the header.
if echo '#include <mpi.h>' | mpicc.mpich -E -x c - >/dev/null 2>&1; then
	mpicc.mpich -o "$TMP/mpich" tests/system/launch_mpi.c ||
		fail "mpicc.mpich"
	run -n 3 "$TMP/mpich"
	expect_rc 0
	sorted_is "$three"
	run -n 3 "$TMP/mpich" abort
	expect_rc 42
	run -agent "/bin/sh -c 'shift; exec \"\$@\"' x" -hosts a,b -n 3 "$TMP/mpich"
	expect_rc 0
	sorted_is "$three"
else
	echo "not tested: programs of MPICH, which is in libmpich-dev"
fi
exit 0
