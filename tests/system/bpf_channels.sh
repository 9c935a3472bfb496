#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
# timeout: 180
# The suite that runs over every channel (tests/unit/test_channels*.c), over bpf,
# with the program loaded: there it is not skipped.
cd "$(dirname "$0")/../.." && . tests/lib.sh
make_tmp
bpf_load 8 >"$TMP/load" 2>&1 || skip "$(tail -n 1 "$TMP/load")"
for t in channels channels_data channels_ranks; do
	timeout 60 "$BUILD/tests/unit/test_$t" bpf >"$TMP/$t" 2>&1 ||
		{ cat "$TMP/$t"; fail "test_$t"; }
	expect_not "$TMP/$t" SKIPPED
done
exit 0
