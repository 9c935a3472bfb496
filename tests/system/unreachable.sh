#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
# timeout: 60
# Hosts that cannot reach each other, three namespaces whose cables lead nowhere: a
# ring of ranks that send and receive ends with an error that names rank and address.
# Where the program cannot be told, since it waits for nothing that has failed, a line
# says so.
cd "$(dirname "$0")/../.." && . tests/lib.sh
netns_possible || skip "network namespaces cannot be made here"
make_tmp
id=$$
at_exit() { for i in 1 2 3; do ip netns del "o2gx$i$id"; ip netns del "o2gy$i$id"; done 2>/dev/null; }
for i in 1 2 3; do
	ip netns add "o2gx$i$id" && ip netns add "o2gy$i$id" &&
		ip link add x netns "o2gx$i$id" type veth peer name y netns "o2gy$i$id" &&
		ip -n "o2gx$i$id" link set lo up &&
		ip -n "o2gx$i$id" addr add "10.203.77.$i/24" dev x &&
		ip -n "o2gx$i$id" link set x up && ip -n "o2gy$i$id" link set y up ||
		fail "no namespaces"
done

# ring CALL
ring()
{
	O2G_TCP_TIMEOUT=2 exec timeout 20 "$MPIEXEC" -agent "$PWD/tests/netns-agent" \
		-hosts "o2gx1$id,o2gx2$id,o2gx3$id" -ppn 1 -n 3 \
		"$MPI_TESTS/unreachable" "$1" >"$TMP/out" 2>&1
}

for call in sendrecv waitall; do
	(ring $call)
	code=$?
	[ $code != 124 ] || { cat "$TMP/out"; fail "$call waits forever"; }
	grep -q 'has had an answer' "$TMP/out" && { cat "$TMP/out"; fail "$call: they met"; }
	expect "$TMP/out" 'lost rank [012] on .*: no connection in 2 s .* of 10.203.77.[123] '
	expect_not "$TMP/out" 'goes on waiting'
done

# says CALL PATTERN: while it runs; it may run on.
says()
{
	local pid said

	ring "$1" &
	pid=$!
	wait_for 15 grep -Eq "lost rank [012] on .*: no connection in 2 s .* of 10.203.77.[123] .*; $2" "$TMP/out"
	said=$?
	kill $pid 2>/dev/null
	wait $pid
	[ $said = 0 ] || { cat "$TMP/out"; fail "$1: nobody says that $2"; }
}
for call in wait test free; do
	says $call 'the program goes on waiting'
done
says drop 'what was sent to it did not arrive'

# Nor does a rank leave as if nothing was, while another one waits for it.
(ring end)
[ $? != 124 ] || { cat "$TMP/out"; fail "MPI_Finalize waits forever"; }
expect "$TMP/out" 'MPI_Finalize: lost rank [012] on .*: no connection in 2 s'
exit 0
