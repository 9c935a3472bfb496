#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
# Messages of 1 MiB from machine a to machine b, as fast as they go, with different
# bounds to what b copies in softirq; and what a program in b gets beside it.
. lab/tests/guest.inc
need_pair

export O2G_ENGINE=kernel O2G_CHANNELS=tcp
for bound in none 0 1048576 65536; do
	rate=0
	if [ "$bound" != none ]; then
		load_both "rx_softirq=$bound" || fail "the driver does not load"
		pair_mpiexec 2 "$PWD/$BUILD/bench/o2g/perf" bandwidth --sizes 1M \
			--window 8 --reps 9 --rep-ms 1000 --json >/tmp/flood 2>&1 &
		job=$!
		sleep 3
	fi
	"$REMOTE" b "$PWD/$BUILD/lab/show/lateness 8" >/tmp/late
	if [ "$bound" != none ]; then
		wait $job || { cat /tmp/flood; fail "the job failed"; }
		rate=$(sed -n 's/.*"MB\/s":\([0-9.e+]*\).*/\1/p' /tmp/flood)
		unload_both >/dev/null || fail "the driver does not unload"
	fi
	sed "s|^{|{\"bound\": \"$bound\", \"MB/s\": ${rate:-0}, |" /tmp/late
done
