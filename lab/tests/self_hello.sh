#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
# A module loads, is seen, unloads, and loads again.
. lab/tests/guest.inc

gone()
{
	dmesg | grep -c 'o2g_lab_hello: gone'
}

before=$(gone)
for i in 1 2; do
	insmod "$HELLO" || fail "it does not load"
	grep -q '^o2g_lab_hello ' /proc/modules || fail "it is not there"
	rmmod o2g_lab_hello || fail "it does not unload"
done
[ "$(gone)" = $((before + 2)) ] || fail "it did not say so"
