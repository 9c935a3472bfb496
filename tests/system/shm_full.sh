#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
# No room for the rings: a message that says what to do, and tcp instead.
cd "$(dirname "$0")/../.." && . tests/lib.sh
need_root
make_tmp
prog=$PWD/$BUILD/tests/system/mpi_prog
at_exit()
{
	umount "$TMP/shm" 2>/dev/null
}
mkdir "$TMP/shm"
mount -t tmpfs -o size=64k tmpfs "$TMP/shm" || skip "tmpfs cannot be mounted"
export O2G_SHM_DIR=$TMP/shm

timeout 20 "$MPIEXEC" -n 2 "$prog" exchange 100 >"$TMP/both" 2>&1 || {
	cat "$TMP/both"
	fail "without shm, tcp should have been used"
}
expect "$TMP/both" "no room .*$TMP/shm"
expect "$TMP/both" 'O2G_SHM_DIR'

O2G_CHANNELS=shm timeout 20 "$MPIEXEC" -n 2 "$prog" exchange 100 \
	>"$TMP/only" 2>&1
code=$?
[ $code != 0 ] || fail "shm alone cannot have worked"
[ $code != 124 ] || fail "the job hangs"
expect "$TMP/only" "no room .*$TMP/shm"
[ -z "$(ls -A "$TMP/shm")" ] || fail "files are left in O2G_SHM_DIR"

# A directory that is not there, and one that is not ours.
O2G_SHM_DIR=/nonexistent timeout 20 "$MPIEXEC" -n 2 "$prog" exchange 100 \
	>"$TMP/none" 2>&1 || { cat "$TMP/none"; fail "tcp should have been used"; }
expect "$TMP/none" 'channel shm cannot be used: .*/nonexistent'
