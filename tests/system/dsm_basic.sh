#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
# timeout: 120
# Every call of shared memory, alone and with several, with and without privileges, and
# what is said when there is no engine.
cd "$(dirname "$0")/../.." && . tests/lib.sh
make_tmp
prog=$PWD/$BUILD/tests/dsm/basic

"$prog" || fail "a process alone"
# Room for ten regions, up to 112 TiB.
O2G_DSM_BASE=114668G "$MPIEXEC" -n 2 "$prog" ||
	fail "places for regions do not come again"
for channel in shm tcp; do
	for n in 2 4; do
		O2G_CHANNELS=$channel "$MPIEXEC" -n $n "$prog" ||
			fail "$n processes over $channel"
	done
done
if netns_possible && netns_pair; then
	"$MPIEXEC" -agent "$PWD/tests/netns-agent" -hosts "$NETNS_A,$NETNS_B" -ppn 2 \
		-n 3 "$prog" || fail "between namespaces"
fi

# The kernel serves others than root only while they are not inside a system call.
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
	mkdir "$TMP/run"
	cp -rL "$BUILD/bin" "$BUILD/lib" "$TMP/run/"
	cp "$prog" "$TMP/run/bin/"
	chmod -R a+rX "$TMP"
	for channel in shm tcp; do
		(cd "$TMP/run" && O2G_CHANNELS=$channel HOME=/ \
			setpriv --reuid 65534 --regid 65534 --clear-groups \
			env LD_LIBRARY_PATH="$TMP/run/lib" \
			bin/mpiexec -n 3 bin/basic) ||
			fail "without privileges, over $channel"
	done
fi

O2G_DSM=kernel "$prog" >"$TMP/out" 2>&1 && fail "there is no kernel engine"
expect "$TMP/out" 'O2G_DSM=kernel: .*o2g_dsm is not there'
O2G_DSM=nonsense "$prog" >"$TMP/out" 2>&1 && fail "there is no such engine"
expect "$TMP/out" 'O2G_DSM=nonsense: it is auto, user or kernel'
exit 0
