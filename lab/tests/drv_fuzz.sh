#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
# timeout: 90
# Bad programs and bad peers: lab/fuzz_dev.c, for FUZZ_SHORT seconds, always with
# the same beginning (`make vm-fuzz` for longer, with a new one each time). On the
# debug kernel allocations and copies also fail.
. lab/tests/guest.inc
need_driver

seconds=${FUZZ_SHORT:-10}
# let_fail WHAT PERCENT: for the threads that want it.
let_fail()
{
	local dir=/sys/kernel/debug/$1

	[ -d "$dir" ] || return
	echo Y >"$dir/task-filter"
	echo "$2" >"$dir/probability"
	echo -1 >"$dir/times"
	echo 0 >"$dir/verbose"
}

let_fail failslab 3
let_fail fail_usercopy 1
timeout -k 5 $((seconds + 40)) "$BUILD/lab/fuzz_dev" "$seconds" ${FUZZ_SEED:-1} ||
	fail "the fuzzer failed"
