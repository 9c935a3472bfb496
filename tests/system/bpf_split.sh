#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
# Ranks that talk much over bpf get a socket for each direction, in one job and
# not in the other; what they say to each other arrives in any case.
cd "$(dirname "$0")/../.." && . tests/lib.sh
make_tmp
bpf_load 4 >"$TMP/load" || skip "$(tail -n 1 "$TMP/load")"

# talk SPLIT [COMMAND...]: two ranks, and what they say about it.
talk()
{
	local split=$1

	shift
	O2G_BPF_SPLIT=$split O2G_CHANNELS=bpf O2G_LOG=debug timeout 60 \
		"$@" "$MPIEXEC" -n 2 "$MPI_TESTS/burst" >"$TMP/said" 2>&1 || {
		tail -n 30 "$TMP/said"
		fail "O2G_BPF_SPLIT=$split"
	}
}

# On a busy machine they may sleep in between, and then they need none.
for _ in $(seq 10); do
	talk 10
	grep -q "a socket for each direction to rank" "$TMP/said" && break
done
expect "$TMP/said" "a socket for each direction to rank"
talk 0
expect_not "$TMP/said" "a socket for each direction"
# Hardly any descriptors: they are for peers that have none yet.
talk 10 prlimit --nofile=26
expect_not "$TMP/said" "a socket for each direction"
exit 0
