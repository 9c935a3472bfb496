#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
# timeout: 200
# Memory whose pages never come, under sends, receives, puts and gets: nobody else
# waits, and the process can be killed. With and without the short way inside a host.
. lab/tests/guest.inc
need_driver

modprobe fuse 2>/dev/null
for direct in 1 0; do
	echo $direct >/sys/module/o2g/parameters/direct
	"$BUILD/tests/driver/device_stuck" || fail "direct=$direct: not all cases passed"
done
