#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
# A crowd of strangers at a rank's port before the first contact, thousands a second:
# the job goes on, a moment later, and says once what happened.
cd "$(dirname "$0")/../.." && . tests/lib.sh
make_tmp
prog=$PWD/$BUILD/tests/mpi/crowd_contact
first=$((20000 + ($$ % 2000) * 10))
export O2G_CHANNELS=tcp O2G_TCP_PORTS=$first-$((first + 9)) O2G_TCP_INTERFACES=lo

timeout 60 "$MPIEXEC" -n 2 "$prog" 2 >"$TMP/out" 2>&1 &
pid=$!
two()
{
	[ "$(ss -Hltn | awk '{ print $4 }' | awk -F: -v a="$first" \
		'$NF >= a && $NF <= a + 9' | wc -l)" -ge 2 ]
}
wait_for 10 two || { cat "$TMP/out"; fail "the ranks do not listen in $O2G_TCP_PORTS"; }
port=$(ss -Hltn | awk '{ print $4 }' | sed 's/.*://' |
	awk -v a="$first" '$1 >= a && $1 <= a + 9' | sort -n | tail -1)
"$BUILD/tests/system/crowd" 127.0.0.1 "$port" 5000 6 >"$TMP/crowd" &
crowd=$!
wait $pid
code=$?
wait $crowd
cat "$TMP/crowd" "$TMP/out"
[ $code = 0 ] || fail "the job ended with $code"
expect "$TMP/out" 'first contact took [0-9]+ ms'
expect "$TMP/out" 'wait and prove nothing'
[ "$(grep -c 'prove nothing' "$TMP/out")" = 1 ] || fail "it was said more than once"
# On an idle machine some 10 ms; here others may need its processors.
took=$(sed -n 's/.*first contact took \([0-9]*\) ms.*/\1/p' "$TMP/out")
[ "$took" -lt 600 ] || fail "the first contact took $took ms"
