#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
# timeout: 400
# Jobs that meet at a port: of several ranks, without a launcher, on two hosts.
cd "$(dirname "$0")/../.." && . tests/lib.sh
make_tmp
JOBS=$MPI_TESTS/dyn_jobs
DEATH=$MPI_TESTS/dyn_death

# both "SERVER COMMAND" "CLIENT COMMAND" [ROUNDS]: they meet in a file.
both()
{
	local rc server

	rm -f "$TMP/port"
	timeout 150 $1 server "$TMP/port" "${3:-1}" >"$TMP/server" 2>&1 &
	server=$!
	timeout 150 $2 client "$TMP/port" "${3:-1}" >"$TMP/client" 2>&1
	rc=$?
	wait $server && [ $rc = 0 ] && return
	tail -n 20 "$TMP/server" "$TMP/client" >&2
	fail "$1 and $2"
}

both "$MPIEXEC -n 2 $JOBS" "$MPIEXEC -n 3 $JOBS"
O2G_CHANNELS=tcp both "$MPIEXEC -n 2 $JOBS" "$MPIEXEC -n 3 $JOBS"
both "$JOBS" "$JOBS" 3
both "$MPIEXEC -n 3 $JOBS" "$JOBS"
# one of them without shared memory
both "env O2G_CHANNELS=tcp $MPIEXEC -n 2 $JOBS" "$MPIEXEC -n 2 $JOBS"
# nothing is left of them
both "$MPIEXEC -n 2 $JOBS" "$MPIEXEC -n 2 $JOBS" 1000
O2G_CHANNELS=tcp both "$MPIEXEC -n 2 $JOBS" "$MPIEXEC -n 2 $JOBS" 1000

# again WHAT RANKS ROUNDS: one has forgotten the other when they meet again
again()
{
	local rc server

	rm -f "$TMP"/port*
	timeout 100 "$MPIEXEC" -n "$2" "$MPI_TESTS/dyn_again" "$1" server \
		"$TMP/port" "$3" >"$TMP/server" 2>&1 &
	server=$!
	timeout 100 "$MPIEXEC" -n "$2" "$MPI_TESTS/dyn_again" "$1" client \
		"$TMP/port" "$3" >"$TMP/client" 2>&1
	rc=$?
	wait $server && [ $rc = 0 ] && return
	tail -n 20 "$TMP/server" "$TMP/client" >&2
	fail "again: $*"
}

for channels in shm,tcp tcp; do
	export O2G_CHANNELS=$channels
	again kept 3 20
	again other 3 20
	again threads 2 20
	again crowd 1 20
done
unset O2G_CHANNELS

# end_of SIDE SIDE CODE CODE: how two jobs of dyn_death end.
end_of()
{
	local rc other

	rm -f "$TMP/port"
	timeout 60 "$MPIEXEC" -n 2 "$DEATH" "$1" "$TMP/port" >"$TMP/one" 2>&1 &
	other=$!
	timeout 60 "$MPIEXEC" -n 3 "$DEATH" "$2" "$TMP/port" >"$TMP/two" 2>&1
	rc=$?
	wait $other
	[ $? = "$3" ] && [ $rc = "$4" ] && return
	tail -n 20 "$TMP/one" "$TMP/two" >&2
	fail "$1 and $2, exit code $rc"
}

end_of victim survivor 137 0
O2G_CHANNELS=tcp end_of victim survivor 137 0
end_of abort aborted 7 7
O2G_CHANNELS=tcp end_of abort aborted 7 7
end_of vanishing caller 137 0
for channels in shm,tcp tcp; do
	O2G_CHANNELS=$channels timeout 60 "$MPIEXEC" -n 2 "$DEATH" parents . \
		>"$TMP/out" 2>&1
	[ $? = 137 ] || { cat "$TMP/out"; fail "a child that ends"; }
	expect "$TMP/out" "spawned job 1: rank 1 on .* was killed by signal 9"
	expect_not "$TMP/out" "rank [01]: class"
done

# a rank is killed in the middle of anything: the other job goes on
chaos() # SEED RANKS
{
	local rc other

	rm -f "$TMP/port"
	timeout 60 "$MPIEXEC" -n "$2" "$MPI_TESTS/dyn_chaos" doomed "$TMP/port" \
		"$1" >"$TMP/one" 2>&1 &
	other=$!
	timeout 60 "$MPIEXEC" -n "$2" "$MPI_TESTS/dyn_chaos" other "$TMP/port" \
		"$1" >"$TMP/two" 2>&1
	rc=$?
	wait $other
	[ $? = 137 ] && [ $rc = 0 ] && return
	tail -n 20 "$TMP/one" "$TMP/two" >&2
	fail "seed $1, exit code $rc"
}

for seed in 1 2 3; do
	chaos $seed 4
done
chaos 4 8
O2G_CHANNELS=tcp chaos 5 8

netns_possible || exit 0
netns_pair || exit 0
export NETNS_A NETNS_B
both "ip netns exec $NETNS_A $MPIEXEC -n 2 $JOBS" \
	"ip netns exec $NETNS_B $MPIEXEC -n 3 $JOBS"
both "ip netns exec $NETNS_A $MPIEXEC -n 2 $JOBS" \
	"tests/nets-mpiexec 2 $JOBS"
exit 0
