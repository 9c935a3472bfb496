#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
# timeout: 100
# A module goes while its requests are under way, and one whose peers are at work. The
# driver stays as long as somebody uses its calls.
. lab/tests/guest.inc
. lab/tests/kapi.inc
need_kapi

for direct in Y N; do
	kapi_direct $direct
	kapi_mark
	insmod "$KAPI" "$KAPI_USER" tests=leave || fail "it does not load"
	rmmod o2g 2>/tmp/why && fail "the driver unloads while it is in use"
	rmmod o2g_kapi || fail "it does not unload"
	kapi_log | grep -q 'all have ended' || { kapi_log; fail "requests were left behind"; }
	kapi_log | grep 'left behind' && fail "a request has not ended as it should"
done
kapi_direct Y

# The model, twice: what it leaves behind would be in its own way.
for i in 1 2; do
	insmod "$PINGPONG" size=$((i * 5000)) rounds=500 || fail "the model does not play"
	rmmod o2g_pingpong || fail "the model does not unload"
done
insmod "$PINGPONG" rank=1 port=1 2>/dev/null && fail "it plays with nobody"
dmesg | grep -q 'o2g_pingpong: 500 rounds of 10000 bytes' || fail "it does not say how fast"
