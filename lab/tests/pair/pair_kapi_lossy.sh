#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
# timeout: 200
# slow: many frames are lost, and late
# Kernel modules in two machines, and a cable that loses, delays, doubles and damages
# frames: what is sent arrives, a peer that goes comes back, and a request that is under
# way when the module is unloaded ends.
. lab/tests/guest.inc
. lab/tests/kapi.inc
need_pair_driver
trap 'rc=$?; lab/wire plain; grep -q "^o2g_kapi " /proc/modules && rmmod o2g_kapi
	"$REMOTE" b "rmmod o2g_kapi"; unload_both || rc=1; exit $rc' EXIT

address=$("$REMOTE" b "ip -4 -o addr show dev eth0" |
	awk '{ sub("/.*", "", $4); print $4; exit }')
"$REMOTE" b "insmod '$PWD/$KAPI' role=serve address=0.0.0.0 port=7019" ||
	fail "the server does not load"
lab/wire loss 1 && lab/wire delay 1 2 && lab/wire dup 1 && lab/wire damage 0.5 ||
	fail "the cable did not obey"
KAPI_USER=
kapi "over a bad cable" role=call address=$address port=7019 most=100000 timeout=100
lab/wire count | grep -vq ' 0 lost' || fail "nothing was lost"
insmod "$KAPI" role=call address=$address port=7019 tests=leave || fail "it does not load"
rmmod o2g_kapi || fail "it does not unload while requests are under way"
