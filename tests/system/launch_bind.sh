#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
# Binding: what is asked for is what the kernel says.
cd "$(dirname "$0")/../.." && . tests/lib.sh && . tests/system/launch.inc

cpus='grep Cpus_allowed_list /proc/self/status | cut -f 2'
all=$(sh -c "$cpus")

run -bind-to none -n 2 sh -c "$cpus"
expect_rc 0
[ "$(sort -u "$TMP/out")" = "$all" ] || fail "none is not none"

run -report-bindings -bind-to hwthread -n 2 sh -c "$cpus"
expect_rc 0
expect_lines "$TMP/out" 2
expect_not "$TMP/out" '[,-]'
expect "$TMP/err" 'mpiexec: rank 0 on .* is bound to a hwthread: CPUs [0-9]+$'
expect "$TMP/err" 'mpiexec: rank 1 on .* is bound to a hwthread: CPUs [0-9]+$'
if [ "$(nproc)" -gt 1 ]; then
	[ "$(sort -u "$TMP/out" | wc -l)" = 2 ] || fail "both on one CPU"
fi

# As many as there are cores, and more: they share.
run -bind-to core -n 5 sh -c "$cpus"
expect_rc 0
expect_lines "$TMP/out" 5
for what in socket numa; do
	run -bind-to $what -map-by core -n 2 sh -c "$cpus"
	expect_rc 0
	expect_lines "$TMP/out" 2
done
run -bind-to core -map-by socket -n 3 true
expect_rc 0

# Only CPUs that we have ourselves.
one=${all%%[,-]*}
taskset -c "$one" timeout 10 "$MPIEXEC" -bind-to core -n 2 sh -c "$cpus" \
	</dev/null >"$TMP/out" || fail "under taskset"
[ "$(sort -u "$TMP/out")" = "$one" ] || fail "bound to CPUs that are not ours"

# Without a wish, on a machine with one NUMA node: left to the scheduler.
if [ ! -e /sys/devices/system/node/node1 ]; then
	run -report-bindings -n 1 sh -c "$cpus"
	expect "$TMP/err" 'rank 0 on .* is not bound'
	sorted_is "$all"
fi
exit 0
