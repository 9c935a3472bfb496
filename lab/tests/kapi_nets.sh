#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
# timeout: 150
# Endpoints of kernel modules in two networks, as on two hosts.
. lab/tests/guest.inc
. lab/tests/kapi.inc
need_kapi

netns_pair || fail "no namespaces"
kapi_start /tmp/pid ip netns exec "$NETNS_B" bash -c 'echo $$; exec sleep 600'
address=$(ip -n "$NETNS_B" -4 -o addr show scope global | awk '{ sub("/.*", "", $4); print $4; exit }')
ip netns exec "$NETNS_A" insmod "$KAPI" "$KAPI_USER" most=$KAPI_MOST \
	net_of=$(cat /tmp/pid) address=$address ||
	{ dmesg | grep o2g_kapi | tail -n 20; fail "two networks"; }
rmmod o2g_kapi || fail "it does not unload"
