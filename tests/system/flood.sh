#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
# timeout: 120
# A sender that does not stop and a receiver that sleeps: its memory stays within
# the limit, and every message arrives, in order.
cd "$(dirname "$0")/../.." && . tests/lib.sh
make_tmp
prog=$PWD/$BUILD/tests/system/mpi_prog

channels="shm tcp"
bpf_load 2 >/dev/null && channels+=" bpf"
for channel in $channels; do
	for bytes in 64 4096 100000; do
		n=$((80000000 / bytes)) # 80 MB against a limit of 8
		[ $n -gt 40000 ] && n=40000
		out=$TMP/$channel.$bytes
		O2G_CHANNELS=$channel O2G_UNEXPECTED=8M timeout 60 \
			"$MPIEXEC" -n 2 "$prog" flood $n $bytes >"$out" 2>&1 ||
			{ cat "$out"; fail "$channel: $n times $bytes bytes"; }
		grew=$(sed -n 's/^memory grew by \([0-9]*\) KiB.*/\1/p' "$out")
		echo "$channel, $n x $bytes: $(cat "$out")"
		[ -n "$grew" ] && [ "$grew" -lt 12288 ] ||
			fail "$channel: memory grew by $grew KiB with O2G_UNEXPECTED=8M"
	done
done
