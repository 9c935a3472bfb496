#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
# timeout: 150
# O2G_ENCRYPT=1 where the kernel encrypts: it really does, in both directions, a capture
# of the cable shows nothing plain, and an end whose kernel does it talks to one whose
# process does.
. lab/tests/guest.inc

modprobe tls || skip "this kernel has no TLS"
prog=$PWD/$BUILD/tests/system/encrypt_prog
O2G_ENCRYPT=1 "$O2G" info >/tmp/info 2>&1
grep -q 'built without GnuTLS' /tmp/info && skip "built without GnuTLS"
expect /tmp/info 'encryption: TLS 1.3 .* data by the kernel'
trap netns_cleanup EXIT
netns_pair || fail "no namespaces"
export NETNS_A NETNS_B O2G_ENCRYPT=1

# count NETNS NAME: of /proc/net/tls_stat
count()
{
	ip netns exec "$1" awk -v n="$2" '$1 == n { print $2 }' /proc/net/tls_stat
}

ip netns exec "$NETNS_A" "$BUILD/tests/system/capture" "va$$" 'are not for the cable' \
	>/tmp/cable 2>&1 &
pid=$!
wait_for 10 grep -q ready /tmp/cable || fail "no capture"
timeout 60 tests/nets-mpiexec 4 "$prog" 1 </dev/null >/tmp/out 2>&1 || { cat /tmp/out; fail "a job"; }
expect /tmp/out 'all came right'
kill -TERM $pid
wait $pid || fail "the capture failed"
cat /tmp/cable
expect /tmp/cable 'records [1-9][0-9]{2,}, sealed [1-9][0-9]{6}[0-9]*, plain 0, lost 0'
for ns in "$NETNS_A" "$NETNS_B"; do
	for what in TlsTxSw TlsRxSw; do
		n=$(count "$ns" $what)
		echo "$ns $what $n"
		[ "${n:-0}" -ge 4 ] || fail "the kernel did not encrypt: $what is $n"
	done
	[ "$(count "$ns" TlsDecryptError)" = 0 ] || fail "errors"
done

# The kernel at one end, the process at the other.
before=$(count "$NETNS_A" TlsTxSw)
timeout 60 ip netns exec "$NETNS_A" "$MPIEXEC" -agent "$PWD/tests/netns-agent" \
	-hosts "$NETNS_A,$NETNS_B" -n 1 "$prog" : -n 1 -env O2G_KTLS 0 "$prog" \
	</dev/null >/tmp/out 2>&1 || { cat /tmp/out; fail "one of the two kernels"; }
expect /tmp/out 'all came right'
[ "$(count "$NETNS_A" TlsTxSw)" = $((before + 1)) ] || fail "not by one kernel"

export O2G_CHANNELS=tcp
for test in pt2pt probe coll_random dyn_port; do
	timeout 60 "$MPIEXEC" -n 2 "$MPI_TESTS/$test" </dev/null || fail "$test"
done
exit 0
