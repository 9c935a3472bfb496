#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
# Processes that start others: alone, under our mpiexec, under another launcher, on two
# hosts; and what is left when one of them is killed.
cd "$(dirname "$0")/../.." && . tests/lib.sh
make_tmp
SPAWN=$MPI_TESTS/dyn_spawn
POOL=$MPI_TESTS/dyn_pool

# works COMMAND...: ends with 0 and says nothing but what is expected.
works()
{
	timeout 60 "$@" >"$TMP/out" 2>&1 && return
	tail -n 20 "$TMP/out" >&2
	fail "$*"
}

works "$SPAWN"
works "$MPIEXEC" -n 1 "$SPAWN"
works "$MPIEXEC" -n 3 "$SPAWN"
O2G_CHANNELS=tcp works "$MPIEXEC" -n 2 "$SPAWN"
works "$POOL" 20 2 50
works "$MPIEXEC" -n 2 "$POOL" 3 2 300
if command -v mpiexec.hydra >/dev/null; then
	works mpiexec.hydra -n 2 "$POOL" 2 2 50
fi

# what spawned processes print, and -usize
cat >"$TMP/p.c" <<'EOF'
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	MPI_Comm c;
	int *u, flag, r;

	MPI_Init(&argc, &argv);
	MPI_Comm_get_parent(&c);
	MPI_Comm_rank(MPI_COMM_WORLD, &r);
	if (c == MPI_COMM_NULL) {
		MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_UNIVERSE_SIZE, &u, &flag);
		printf("universe %d\n", flag ? *u : -1);
		fflush(stdout);
		MPI_Comm_spawn(argv[0], argv + 1, 2, MPI_INFO_NULL, 0,
			       MPI_COMM_SELF, &c, MPI_ERRCODES_IGNORE);
	}
	if (argc > 1)
		for (;;)
			pause();
	printf("last words of %d\n", r);
	MPI_Finalize();
	return 0;
}
EOF
"$MPICC" "$TMP/p.c" -o "$TMP/p" || fail "mpicc"
works "$MPIEXEC" -usize 17 -n 1 "$TMP/p"
expect "$TMP/out" "universe 17"
expect "$TMP/out" "last words of 1"
[ "$(grep -c "last words" "$TMP/out")" = 3 ] || fail "words are missing"

# a parent that is killed takes its children with it
count() { pgrep -fc "^$TMP/p" || true; }
has() { [ "$(count)" = "$1" ]; }
"$TMP/p" forever >"$TMP/out" 2>&1 &
pid=$!
wait_for 10 has 3 || fail "no children: $(count)"
kill -9 $pid
wait_for 10 has 0 || fail "$(count) processes are left"
timeout -k 5 3 "$MPIEXEC" -n 1 "$TMP/p" forever >"$TMP/out" 2>&1
wait_for 10 has 0 || fail "$(count) processes are left after a timeout"

netns_possible || exit 0
netns_pair || exit 0
works ip netns exec "$NETNS_A" "$MPIEXEC" -agent "$PWD/tests/netns-agent" \
	-hosts "$NETNS_A:1,$NETNS_B:1" -n 2 "$SPAWN"
exit 0
