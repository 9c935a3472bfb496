#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
# Writing to NFS, by dd and by two ranks: on one host, and on two. Each with what it
# takes until the server has all of it.
. lab/tests/guest.inc
. lab/tests/nfs.inc
nfs_start >/dev/null

bytes=${1:-280000000}
now()
{
	date +%s.%N
}

for round in 1 2; do
	rm -f $NFS_A/*
	start=$(now)
	dd if=/dev/zero of=$NFS_A/dd bs=10000000 count=$((bytes / 10000000)) \
		conv=fsync 2>/dev/null || fail "dd"
	echo "$start $(now)" | awk -v b=$bytes '{ printf \
		"{\"by\": \"dd\", \"MB\": %d, \"s\": %.3f}\n", b / 1e6, $2 - $1 }'
	rm -f $NFS_A/*
	ip netns exec "$NETNS_A" "$MPIEXEC" -n 2 "$MPI_TESTS/file_two" \
		$NFS_A $NFS_A write $bytes || fail "two ranks on one host"
	rm -f $NFS_A/*
	tests/nets-mpiexec 2 "$MPI_TESTS/file_two" $NFS_A $NFS_B write $bytes |
		sed 's/2 ranks/2 ranks, 2 hosts/'
done
