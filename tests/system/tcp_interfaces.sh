#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
# The tcp channel finds the network that works: two hosts (namespaces), one
# cable that is real, and interfaces of all kinds that lead nowhere.
#
#	   a                                 b
#	ve 10.203.71.1  fd71:203::1  ----  ve 10.203.71.2  fd71:203::2
#	nothing between these: aa0 (no carrier), aa1 (up), docker0, br7 (twins)
cd "$(dirname "$0")/../.." && . tests/lib.sh
netns_possible || skip "network namespaces need root"
make_tmp
netns_pair || skip "cannot make network namespaces"
A=$NETNS_A B=$NETNS_B
"$MPICC" -o "$TMP/prog" tests/system/tcp_prog.c || fail "tcp_prog.c does not compile"

# As ssh, with a host name that resolves to 127.0.1.1, as Debian sets it up.
echo "127.0.0.1 localhost
127.0.1.1 node" >"$TMP/hosts"
cat >"$TMP/agent" <<END
#!/bin/sh
host=\$1
shift
exec ip netns exec "\$host" unshare --uts --mount sh -c \
	"mount --bind $TMP/hosts /etc/hosts && hostname node && \$*"
END
chmod +x "$TMP/agent"

# run WHAT [NAME=VALUE...]: the program on both hosts; output in $TMP/out.
run()
{
	what=$1
	shift
	env O2G_CHANNELS=tcp O2G_LOG=debug "$@" timeout 30 "$MPIEXEC" \
		-agent "$TMP/agent" -hosts "$A,$B" -n 2 "$TMP/prog" \
		>"$TMP/out" 2>&1
	rc=$?
}

# over WHAT ADDRESS [NAME=VALUE...]: works, and through that network.
over()
{
	local network=$2 what=$1

	shift 2
	run "$what" "$@"
	if [ $rc -ne 0 ] || [ "$(grep -c 'rank [01] right' "$TMP/out")" != 2 ] ||
	   ! grep -qF "connected to rank 1: $network" "$TMP/out"; then
		tail -n 20 "$TMP/out" >&2
		fail "$what: expected a connection over $network"
	fi
	echo "ok: $what"
}

both()
{
	ip -n "$A" "$@" && ip -n "$B" "$@"
}

# An interface at both ends with addresses of one network, and no way across.
nowhere() # NAME ADDRESS_A ADDRESS_B
{
	both link add "$1" type veth peer name "$1-end" &&
		both link set "$1-end" up && both link set "$1" up &&
		ip -n "$A" addr add "$2" dev "$1" &&
		ip -n "$B" addr add "$3" dev "$1"
}

# The real cable comes last in the kernel's list of interfaces.
cable()
{
	ip link add ve netns "$A" type veth peer name ve netns "$B" &&
		netns_address "$A" ve 1 && netns_address "$B" ve 2 &&
		wait_for 5 netns_is_up "$A" ve && wait_for 5 netns_is_up "$B" ve
}

# No network at all, not even lo: nothing to say where shared memory does it.
alone()
{
	env "$@" timeout 20 unshare --net "$MPIEXEC" -n 2 "$TMP/prog" \
		>"$TMP/out" 2>&1
	rc=$?
}
alone -u O2G_CHANNELS
[ $rc = 0 ] && ! grep -q o2g: "$TMP/out" || {
	cat "$TMP/out" >&2
	fail "without a network, in shared memory: exit code $rc"
}
alone O2G_CHANNELS=shm,tcp
[ $rc = 0 ] || fail "without a network: exit code $rc"
grep -q 'channel tcp cannot be used: no network interface with an address is up' \
	"$TMP/out" || fail "no warning that tcp was asked for in vain"
alone O2G_CHANNELS=tcp
[ $rc != 0 ] && [ $rc != 124 ] || fail "without a network, tcp: exit code $rc"
grep -q 'none of the channels in O2G_CHANNELS=tcp can be used' "$TMP/out" ||
	fail "no words about channels that cannot be used"
echo "ok: no network at all"

over "one interface, two families, host name 127.0.1.1" 10.203.71.1
over "O2G_TCP_FAMILY=6" "[fd71:203::1]" O2G_TCP_FAMILY=6

ip -n "$A" link del "va$$" || fail "cannot remove the first cable"
nowhere docker0 172.17.0.1/16 172.17.0.1/16 || fail "no docker0"
nowhere br7 172.30.0.1/16 172.30.0.1/16 || fail "no br7"
cable || fail "cannot lay a cable"
over "twins of docker0 and of a bridge without a name" 10.203.71.1

ip -n "$A" link del ve
nowhere aa1 192.168.78.1/24 192.168.78.2/24 || fail "no aa1"
both link add aa0 type veth peer name aa0-end # that end stays down
both link set aa0 up
ip -n "$A" addr add 192.168.77.1/24 dev aa0
ip -n "$B" addr add 192.168.77.2/24 dev aa0
cable || fail "cannot lay a cable"
over "a first interface that leads nowhere, another without carrier" 10.203.71.1
over "an interface by name" 10.203.71.1 O2G_TCP_INTERFACES=ve
over "a network, and a range of ports" 10.203.71.1 \
	O2G_TCP_INTERFACES=10.203.0.0/16 O2G_TCP_PORTS=23400-23410

run "the wrong interface" O2G_TCP_INTERFACES=aa1 O2G_TCP_TIMEOUT=1
[ $rc -ne 0 ] || fail "an interface that leads nowhere worked"
grep -q "192.168.78.[12]" "$TMP/out" || fail "the message names no address"
run "no such interface" O2G_TCP_INTERFACES=eth77
[ $rc -ne 0 ] || fail "an interface that does not exist was accepted"
grep -q 'O2G_TCP_INTERFACES is "eth77"' "$TMP/out" ||
	fail "the message does not name the setting"
echo "ok: wrong interfaces are named"

for i in aa0 aa1 docker0 br7; do
	both link del "$i"
done
both addr flush dev ve scope global
ip -n "$A" addr add fd71:203::1/64 dev ve nodad
ip -n "$B" addr add fd71:203::2/64 dev ve nodad
over "IPv6 only" "[fd71:203::1]"
both addr flush dev ve scope global
wait_for 5 sh -c "! ip -n $A -6 addr show dev ve | grep -q tentative"
wait_for 5 sh -c "! ip -n $B -6 addr show dev ve | grep -q tentative"
over "link-local addresses only" "[fe80:"

# on_a [NAME=VALUE...] COMMAND...: two ranks on one host, its address tentative at
# first; for how long in $took.
on_a()
{
	local from=$(now_ms)

	ip -n "$A" addr add fd71:203::9/64 dev ve
	env "$@" >"$TMP/out" 2>&1
	rc=$?
	took=$(($(now_ms) - from))
	ip -n "$A" addr del fd71:203::9/64 dev ve
	[ $rc = 0 ] && [ "$(grep -c 'rank [01] right' "$TMP/out")" = 2 ] && return
	tail -n 20 "$TMP/out" >&2
	fail "a tentative address on one host: exit code $rc"
}

# Where shared memory does all nobody waits for an address. If it does not reach a
# rank after all, or is not asked for, there is one when it is needed.
here="timeout 20 ip netns exec $A $MPIEXEC -n 2"
ip netns exec "$A" sysctl -qw net.ipv6.conf.ve.dad_transmits=30
on_a -u O2G_CHANNELS $here "$TMP/prog"
[ $took -lt 3000 ] || fail "shared memory had to wait for an address: $took ms"
ip netns exec "$A" sysctl -qw net.ipv6.conf.ve.dad_transmits=1
on_a O2G_CHANNELS=tcp $here "$TMP/prog"
on_a -u O2G_CHANNELS $here unshare --pid --fork "$TMP/prog"
echo "ok: a tentative address on one host"

# Addresses that the kernel still asks the other host about are waited for; one
# that the other host has is not.
ip -n "$A" addr add fd71:203::1/64 dev ve
ip -n "$B" addr add fd71:203::2/64 dev ve
ip -n "$A" -6 addr show dev ve | grep -q "::1/64 .*tentative" ||
	fail "an address is not tentative at first"
over "tentative addresses" "[fd71:203::1]"
ip -n "$B" addr add fd71:203::1/64 dev ve
wait_for 5 sh -c "ip -n $B -6 addr show dev ve | grep -q dadfailed" ||
	fail "an address of two hosts is not noticed"
run "an address of two hosts" O2G_TCP_INTERFACES=fd71:203::1
[ $rc -ne 0 ] || fail "an address of two hosts was accepted"
grep -q 've fd71:203::1/64 (another host has it as well)' "$TMP/out" ||
	fail "the message does not say that another host has the address"
echo "ok: an address of two hosts"
exit 0
