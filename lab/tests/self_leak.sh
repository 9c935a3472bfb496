#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
# timeout: 120
# needs: debug
# expect: kmemleak: [0-9]+ new suspected memory leaks
# Memory that a module has lost is found.
. lab/tests/guest.inc

insmod "$HELLO" fault=leak && rmmod o2g_lab_hello
# kmemleak leaves alone what is younger than five seconds.
sleep 6
echo scan >/sys/kernel/debug/kmemleak
echo scan >/sys/kernel/debug/kmemleak
cat /sys/kernel/debug/kmemleak
grep -q 'comm "insmod"' /sys/kernel/debug/kmemleak || fail "not found"
echo clear >/sys/kernel/debug/kmemleak
