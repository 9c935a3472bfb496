#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
# The NAS kernels: nas.sh RANKS CLASS SECONDS [KERNEL...]. Each run has so many
# seconds of the processor, its start included: idle time is not counted, since in
# virtual time it passes at once, more of it when the host is slow.
. lab/shows/mpis.inc
need_driver

# worked NAME: hundredths of a second that the processor has worked go to $NAME.
# Nothing is started for this, nor for waiting: it would be part of the time.
worked()
{
	local name user nice system idle iowait irq softirq rest

	read -r name user nice system idle iowait irq softirq rest </proc/stat
	printf -v "$1" %d $((user + nice + system + iowait + irq + softirq))
}

# run_within SECONDS KERNEL COMMAND...: 124 when it was ended.
run_within()
{
	local limit=$1 kernel=$2 start now pid

	shift 2
	worked start
	"$@" >/tmp/show.out 2>/tmp/show.err </dev/null &
	pid=$!
	while kill -0 $pid 2>/dev/null; do
		worked now
		if [ $((now - start)) -gt $((limit * 100)) ]; then
			pkill -TERM -P $pid
			kill $pid
			sleep 1
			pkill -9 -x "$kernel"
			wait $pid
			return 124
		fi
		nap 0.2
	done
	worked now
	all=$(awk "BEGIN { print ($now - $start) / 100 }")
	wait $pid
}

np=$1 class=$2 limit=$3
shift 3
for kernel in ${*:-is ep cg mg ft}; do
	for mpi in $MPIS; do
		head="{\"mpi\": \"$mpi\", \"kernel\": \"$kernel\", \"np\": $np"
		run_within "$limit" "$kernel" start_on "$mpi" "$np" \
			"$PWD/$BUILD/bench/$(folder_of "$mpi")/nas/$kernel" "$class" --json
		rc=$?
		case $rc in
		0) sed -n "s/^{/$head, \"all\": $all, /p" /tmp/show.out ;;
		124) echo "$head, \"more than\": $limit}" ;;
		*)
			echo "$head, \"failed\": \"exit code $rc\"}"
			tail -n 5 /tmp/show.out /tmp/show.err >&2
			;;
		esac
	done
done
