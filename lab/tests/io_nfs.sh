#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
# timeout: 300
# slow: over a minute in the emulator; make test-long
# A file of MPI on NFS, which two hosts have mounted: what is written is seen after
# a sync, nothing is lost where two hosts write to one page, and no part of a file is
# locked but in atomic mode.
. lab/tests/guest.inc
. lab/tests/nfs.inc
nfs_start

# two RANKS MODE
two()
{
	timeout 120 tests/nets-mpiexec "$1" "$MPI_TESTS/file_two" \
		$NFS_A $NFS_B "$2" || fail "file_two $2 on $1 ranks"
}

two 2 plain
two 4 plain
for m in $NFS_A $NFS_B; do
	locks=$(nfs_ops $m LOCK)
	echo "$m: $(nfs_ops $m WRITE) writes, $(nfs_ops $m READ) reads, $locks locks"
	[ "$locks" = 0 ] || fail "parts of the file were locked"
done
two 4 atomic
locks=$(nfs_ops $NFS_B LOCK)
[ "$locks" -gt 0 ] || fail "atomic mode locked nothing"
