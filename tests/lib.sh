# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
#
# Sourced by tests/run and by the scripts of tests/system, which start with
#	cd "$(dirname "$0")/../.." && . tests/lib.sh
# and end with exit code 0, 1 or (not possible here) 77.

BUILD=${BUILD:-build}
MPIEXEC=$PWD/$BUILD/bin/mpiexec
MPICC=$PWD/$BUILD/bin/mpicc
O2G=$PWD/$BUILD/bin/o2g
MPI_TESTS=$PWD/$BUILD/tests/mpi

# fail WORDS: end the test as failed.
fail()
{
	echo "FAILED: $*" >&2
	exit 1
}

# skip WORDS: end the test as impossible here.
skip()
{
	echo "skipped: $*"
	exit 77
}

need_root()
{
	[ "$(id -u)" = 0 ] || skip "needs root"
}

# A directory that is removed at the end. One per script: it sets a trap.
make_tmp()
{
	TMP=$(mktemp -d "${TMPDIR:-/tmp}/o2g-test.XXXXXX") || exit 1
	trap 'finish' EXIT
}

# What runs at the end of a script; scripts may define at_exit.
finish()
{
	local rc=$?

	declare -F at_exit >/dev/null && at_exit
	netns_cleanup
	bpf_cleanup
	[ -n "${TMP:-}" ] && rm -rf "$TMP"
	exit $rc
}

# wait_for SECONDS COMMAND...: until the command succeeds; false if it does not.
wait_for()
{
	local end=$((SECONDS + $1 + 1))

	shift
	until "$@" >/dev/null 2>&1; do
		[ $SECONDS -lt $end ] || return 1
		sleep 0.02
	done
}

now_ms()
{
	echo $(($(date +%s%N) / 1000000))
}

# expect FILE PATTERN: some line of the file matches the extended regex.
expect()
{
	grep -Eq -- "$2" "$1" && return
	echo "--- $1 ---" >&2
	tail -n 30 "$1" >&2
	fail "no line matches: $2"
}

# expect_not FILE PATTERN
expect_not()
{
	grep -Eq -- "$2" "$1" || return 0
	echo "--- $1 ---" >&2
	tail -n 30 "$1" >&2
	fail "a line matches: $2"
}

# own_network: run the script again, in a network that has nothing but lo, so that
# the servers it starts open no port of the machine. Comes first in a script.
own_network()
{
	local how=()

	if [ -n "${TEST_OWN_NETWORK:-}" ]; then
		# Names are not resolved where 127.0.0.1 is the only address.
		ip link set lo up && ip addr add 10.203.72.1/32 dev lo ||
			fail "there is no lo"
		return
	fi
	command -v ip >/dev/null || skip "needs ip, of iproute2"
	[ "$(id -u)" = 0 ] || how=(--user --map-current-user --keep-caps)
	unshare "${how[@]}" --net true 2>/dev/null ||
		skip "network namespaces cannot be made here"
	TEST_OWN_NETWORK=1 exec unshare "${how[@]}" --net \
		bash "$PWD/tests/system/$(basename "$0")" "$@"
}

# --- network namespaces that stand for hosts ---

# Being root is not enough: containers often forbid a part of it.
netns_possible()
{
	local try=o2gt$$ rc

	[ "$(id -u)" = 0 ] && command -v ip >/dev/null || return 1
	ip netns add "$try" 2>/dev/null || return 1
	ip netns exec "$try" true 2>/dev/null &&
		ip -n "$try" link add o2gt type veth peer name o2gu 2>/dev/null
	rc=$?
	ip netns del "$try"
	return $rc
}

# Two namespaces, NETNS_A and NETNS_B, joined by a veth pair: 10.203.x.1 and
# 10.203.x.2, and fd71:203::1 and ::2. Names hold the process id, so that
# several runs on one machine do not meet.
netns_pair()
{
	local id=$$ a b

	a=o2ga$id b=o2gb$id
	ip netns add "$a" && NETNS_A=$a &&
		ip netns add "$b" && NETNS_B=$b &&
		ip link add "va$id" netns "$a" type veth \
			peer name "vb$id" netns "$b" &&
		netns_address "$a" "va$id" 1 &&
		netns_address "$b" "vb$id" 2 &&
		wait_for 5 netns_is_up "$a" "va$id" &&
		wait_for 5 netns_is_up "$b" "vb$id"
}

netns_address()
{
	ip -n "$1" link set lo up &&
		ip -n "$1" addr add "10.203.71.$3/24" dev "$2" &&
		ip -n "$1" addr add "fd71:203::$3/64" dev "$2" nodad &&
		ip -n "$1" link set "$2" up
}

netns_is_up()
{
	ip -n "$1" link show "$2" | grep -q 'state UP'
}

netns_cleanup()
{
	[ -n "${NETNS_A:-}" ] && ip netns del "$NETNS_A" 2>/dev/null
	[ -n "${NETNS_B:-}" ] && ip netns del "$NETNS_B" 2>/dev/null
	NETNS_A= NETNS_B=
	return 0
}

# --- the bpf channel ---

# bpf_load SEATS [WORDS...]: seats in a place of their own, for root or for whom
# the words say. False, and the last line says why, where that cannot be.
BPF_DIR=
bpf_load()
{
	local seats=$1 dir

	shift
	[ "$(id -u)" = 0 ] || { echo "needs root"; return 1; }
	dir=$(mktemp -d "${TMPDIR:-/tmp}/o2g-bpf.XXXXXX") || return 1
	chmod 755 "$dir"
	if ! O2G_BPF_DIR=$dir "$O2G" bpf load --seats "$seats" "$@" 2>&1; then
		rmdir "$dir"
		return 1
	fi
	BPF_DIR=$dir
	export O2G_BPF_DIR=$dir
}

bpf_cleanup()
{
	[ -n "$BPF_DIR" ] || return 0
	O2G_BPF_DIR=$BPF_DIR "$O2G" bpf unload
	rmdir "$BPF_DIR"
	BPF_DIR=
	unset O2G_BPF_DIR
}
