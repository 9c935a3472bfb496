#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
# timeout: 150
# slow: many frames are lost, and late
# The bpf channel in two machines, with a socket for each direction: frames are lost,
# late, doubled, damaged and out of order, and a cable is out for a while. The job
# does not notice.
. lab/tests/guest.inc
need_pair

load="$O2G bpf load --seats 2"
if ! { $load && "$REMOTE" b "$load"; } >/tmp/load 2>&1; then
	cat /tmp/load
	grep -Eq 'known to lose data|CONFIG_DEBUG_INFO_BTF' /tmp/load && exit 77
	fail "it does not load"
fi
trap 'lab/wire plain; "$O2G" bpf unload; "$REMOTE" b "$O2G bpf unload"' EXIT
export O2G_CHANNELS=bpf O2G_BPF_SPLIT=10 O2G_LOG=debug

lab/wire loss 1 && lab/wire delay 1 2 && lab/wire dup 1 && lab/wire damage 0.5 ||
	fail "the cable did not obey"
for program in pt2pt burst; do
	pair_mpiexec 2 "$MPI_TESTS/$program" >/tmp/out 2>&1 || {
		cat /tmp/out
		fail "$program over a bad network failed"
	}
	expect /tmp/out 'a socket for each direction'
done
lab/wire count | grep -vq ' 0 lost' || fail "nothing was lost"
cut_for 2
expect /tmp/out 'a socket for each direction'
