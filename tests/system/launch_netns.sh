#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
# Network namespaces as hosts.
cd "$(dirname "$0")/../.." && . tests/lib.sh && . tests/system/launch.inc
netns_possible || skip "network namespaces need root"
netns_pair || skip "cannot make network namespaces"

run -agent "$PWD/tests/netns-agent" -hosts "$NETNS_A:2,$NETNS_B:2" -n 4 \
	sh -c 'echo $PMI_RANK $(ip -o -4 addr show | grep -o "10\.203\.[0-9.]*" |
		head -n 1)'
expect_rc 0
sorted_is "0 10.203.71.1
1 10.203.71.1
2 10.203.71.2
3 10.203.71.2"

run -agent "$PWD/tests/netns-agent" -hosts "$NETNS_A,$NETNS_B" -n 6 \
	"$PROG" board
expect_rc 0
expect_lines "$TMP/out" 6

# An agent of two words that passes its own on as they are.
run -agent "ip netns exec" -hosts "$NETNS_A,$NETNS_B" -n 2 "$PROG" board
expect_rc 0
expect_lines "$TMP/out" 2
exit 0
