#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
# timeout: 150
# What can be seen from outside: a counter with a name for all that is refused or
# dropped, also in o2g top; and every tracepoint, switched on and seen.
. lab/tests/guest.inc
need_driver

"$BUILD/tests/driver/drops" || fail "not all counters"
O2G_DROPS_TOP="$O2G top -n 1 >/tmp/top" "$BUILD/tests/driver/drops" bad_version ||
	fail "o2g top while an endpoint is open"
grep -q 'refused or dropped: header of another version: 1' /tmp/top ||
	{ cat /tmp/top; fail "o2g top does not show it"; }

trace=/sys/kernel/tracing
[ -d $trace/events/o2g ] || fail "there are no tracepoints"
echo 1 >$trace/events/o2g/enable
for test in message__unexpected message__posted; do
	"$BUILD/tests/driver/device_msg" $test >/dev/null || fail "$test under trace"
done
"$BUILD/tests/driver/drops" bad_key >/dev/null || fail "drops under trace"
"$BUILD/tests/driver/paper" area__list >/dev/null || fail "paper under trace"
echo 0 >$trace/events/o2g/enable
cp $trace/trace /tmp/trace
for event in $trace/events/o2g/*/; do
	event=$(basename "$event")
	grep -q " $event: rank" /tmp/trace ||
		{ tail -n 30 /tmp/trace; fail "$event was not seen"; }
	grep -m 1 " $event: rank" /tmp/trace
done
grep -q 'o2g_refuse: rank 0 peer 1 put or get with an unknown key: 1' /tmp/trace ||
	fail "the reason has no name"
grep -q 'o2g_receive: rank 1 peer 0 EAGER tag 0x' /tmp/trace || fail "no packet"
