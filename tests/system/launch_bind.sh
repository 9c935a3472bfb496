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

# Several cores for each rank, on a machine that there is only for hwloc.
wide()
{
	local want=$1

	shift
	HWLOC_SYNTHETIC="package:2 core:4 pu:2" run "$@" -report-bindings true
	expect_rc 0
	[ "$(sed -n 's/.* is bound to //p' "$TMP/err" | tr '\n' ' ')" = "$want " ] ||
		{ cat "$TMP/err"; fail "$*: not $want"; }
}
wide '2 cores: CPUs 0-3 2 cores: CPUs 4-7 2 cores: CPUs 8-11' -map-by slot:PE=2 -n 3
wide '2 cores: CPUs 0-3 2 cores: CPUs 8-11 2 cores: CPUs 4-7' --map-by socket:pe=2 -n 3
wide '4 cores: CPUs 0-7 4 cores: CPUs 8-15' --map-by ppr:1:socket:PE=4
wide '3 hwthreads: CPUs 0-2 3 hwthreads: CPUs 3-5' -bind-to hwthread:3 -n 2
run -bind-to core:0 -n 1 true
expect_rc 2

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
