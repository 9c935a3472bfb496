#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
# timeout: 90
# Bad programs and bad peers: lab/fuzz_dev.c, for FUZZ_SHORT seconds, always with
# the same beginning (`make vm-fuzz` for longer, with a new one each time). On the
# debug kernel allocations also fail.
. lab/tests/guest.inc
need_driver

seconds=${FUZZ_SHORT:-10}
fail=/sys/kernel/debug/failslab
if [ -d $fail ]; then
	echo Y >$fail/task-filter
	echo 3 >$fail/probability
	echo -1 >$fail/times
	echo 0 >$fail/verbose
fi
timeout -k 5 $((seconds + 40)) "$BUILD/lab/fuzz_dev" "$seconds" ${FUZZ_SEED:-1} ||
	fail "the fuzzer failed"
