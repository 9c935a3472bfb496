#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
# NetPIPE: message rates over all sizes, in several manners.
cd "$(dirname "$0")/../.." && . tests/real/lib.sh
make_tmp
fetch_source netpipe bookworm trixie sid
make -C "$REAL/netpipe" clean mpi MPICC="$MPICC" >"$TMP/out" 2>"$TMP/err"
check "builds with our mpicc"

# netpipe WORDS OPTIONS: every size must have its line, and its data be right.
netpipe()
{
	local words=$1 lines

	shift
	rm -f "$TMP/np"
	timeout 120 "$MPIEXEC" -n 2 "$REAL/netpipe/NPmpi" -u 300000 -o "$TMP/np" \
		"$@" >"$TMP/out" 2>"$TMP/err" </dev/null &&
		lines=$(wc -l <"$TMP/np") && [ "$lines" -gt 30 ] &&
		! grep -qi 'fail\|error' "$TMP/out" "$TMP/err"
	check "$words: ${lines:-no} sizes"
}
netpipe "ping-pong"
netpipe "ping-pong with the data checked" -i -n 5
netpipe "one-way streams" -s -n 20
netpipe "both directions at once" -2 -a -n 20
netpipe "synchronous sends" -S -n 20
netpipe "receives posted before" -a -n 20
netpipe "from any source" -z -n 20
O2G_CHANNELS=tcp netpipe "over tcp" -n 20
summary
