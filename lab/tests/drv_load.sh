#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
# The driver loads, unloads and loads again, but not while it is in use.
. lab/tests/guest.inc
need_driver

for i in 1 2 3; do
	rmmod o2g || fail "it does not unload"
	[ -e /dev/o2g ] && fail "/dev/o2g is still there"
	load_driver || fail "it does not load again"
done
exec 5<>/dev/o2g
rmmod o2g 2>/tmp/why && fail "it unloads while it is in use"
grep -q 'in use' /tmp/why || fail "the reason is not that it is in use"
exec 5>&-
