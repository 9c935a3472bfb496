#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
# How long softirqs are held off by the driver, over TCP and without it: hold.sh [CASE]
. lab/tests/guest.inc
need_driver
insmod "$BUILD/lab/$LAB_KERNEL/hello/o2g_lab_hold.ko" || fail "the measuring module does not load"
for direct in N Y; do
	echo $direct >/sys/module/o2g/parameters/direct
	"$BUILD/tests/driver/hold" ${1:-} >/tmp/held || { cat /tmp/held; fail "not all cases passed"; }
	sed -n "s|^{|{\"direct\": \"$direct\", |p" /tmp/held
done
rmmod o2g_lab_hold
