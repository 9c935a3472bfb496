#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
# timeout: 240
# Every call of the driver, by hand, with good and bad arguments; the ends of
# peers; processes that are killed.
. lab/tests/guest.inc
need_driver

"$O2G" top -n 1 | grep -q 'msg/s in' || fail "o2g top"
"$O2G" queues 1 2>&1 | grep -q 'process 1 has no endpoint' || fail "o2g queues"
for part in device device_msg device_end device_local; do
	"$BUILD/tests/driver/$part" || fail "$part: not all cases passed"
done
if [ -e "$BUILD/tests/driver/compat32" ]; then
	"$BUILD/tests/driver/compat32"
	case $? in
	0) ;;
	126) echo "this kernel runs no 32-bit programs" ;;
	*) fail "a 32-bit program: check $?" ;;
	esac
fi
for direct in N Y; do
	echo $direct >/sys/module/o2g/parameters/direct
	"$BUILD/tests/driver/device_atomic" || fail "device_atomic, direct=$direct: not all cases passed"
done
