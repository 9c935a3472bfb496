#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
# timeout: 90
# kill -9 of one rank: the others get an error that names rank and host, and
# mpiexec ends the job within a second, with one clear line.
cd "$(dirname "$0")/../.." && . tests/lib.sh
make_tmp
prog=$PWD/$BUILD/tests/system/mpi_prog
host=$(hostname)

# job NAME ARGUMENTS...: start it, and find the rank to be killed.
job()
{
	local out=$TMP/$1

	shift
	timeout 30 "$@" >"$out" 2>&1 &
	pid=$!
	wait_for 10 grep -q '^victim' "$out" || {
		cat "$out"
		fail "the job did not start"
	}
	victim=$(sed -n 's/^victim //p' "$out")
}

# Kill it and wait for the job; $took is in milliseconds.
strike()
{
	local start

	sleep 0.3 # the others are waiting by now, asleep
	start=$(now_ms)
	kill -KILL "$victim"
	wait $pid
	code=$?
	took=$(($(now_ms) - start))
}

channels="shm tcp"
bpf_load 4 >/dev/null && channels+=" bpf"
for channel in $channels; do
	export O2G_CHANNELS=$channel
	# Nobody ends the others: what they say is their own.
	job "$channel.err" "$MPIEXEC" -disable-auto-cleanup -n 4 "$prog" victim 2
	strike
	for r in 0 1 3; do
		expect "$TMP/$channel.err" "^rank $r: class [0-9]+: .*rank 2 on $host"
	done
	[ $took -lt 1000 ] || fail "$channel: the ranks needed $took ms"
	job "$channel.all" "$MPIEXEC" -disable-auto-cleanup -n 4 \
		"$prog" victim 2 waitall
	strike
	for r in 0 1 3; do
		expect "$TMP/$channel.all" "^rank $r: class [0-9]+: .*rank 2 on $host"
	done

	# The same in collectives. By messages a rank may learn it from another
	# that has given up.
	for call in barrier ibarrier; do
		job "$channel.$call" "$MPIEXEC" -disable-auto-cleanup -n 4 \
			"$prog" victim 2 $call
		strike
		for r in 0 1 3; do
			expect "$TMP/$channel.$call" \
				"^rank $r: class [0-9]+: .*rank [0-9] on $host"
		done
		[ $took -lt 1000 ] || fail "$channel: $call needed $took ms"
	done

	job "$channel.end" "$MPIEXEC" -n 4 "$prog" victim 2
	strike
	[ $code = 137 ] || fail "$channel: exit code $code instead of 137"
	[ $took -lt 1000 ] || fail "$channel: mpiexec needed $took ms"
	[ "$(grep -c '^mpiexec: ' "$TMP/$channel.end")" = 1 ] || {
		cat "$TMP/$channel.end"
		fail "$channel: not one line from mpiexec"
	}
	expect "$TMP/$channel.end" "^mpiexec: .*rank 2 .*$host"
	echo "$channel: $took ms: $(grep '^mpiexec: ' "$TMP/$channel.end")"
done
