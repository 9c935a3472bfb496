#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
# timeout: 150
# A node that lies to the module, and one that asks without reading the answers: it is
# given up, and nobody else is harmed. LIAR_SEED, LIAR_SESSIONS.
. lab/tests/guest.inc
need_dsm
# So that it is not the sockets that hold what is not read.
sysctl -qw net.ipv4.tcp_wmem="4096 16384 65536" net.ipv4.tcp_rmem="4096 16384 65536"
seed=${LIAR_SEED:-$RANDOM}
O2G_CHANNELS=tcp O2G_TCP_INTERFACES=lo timeout -k 5 140 "$PWD/$BUILD/tests/dsm/liar" "$seed" \
	"${LIAR_SESSIONS:-30}" >/tmp/out 2>&1 || {
	tail -n 20 /tmp/out
	fail "liar $seed: $?"
}
tail -n 3 /tmp/out
exit 0
