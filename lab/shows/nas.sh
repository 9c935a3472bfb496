# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
# The NAS kernels: nas.sh RANKS CLASS SECONDS [KERNEL...]. Each run has so many
# seconds of the processor, its start included: idle time is not counted, since in
# virtual time it passes at once, more of it when the host is slow.
. lab/shows/mpis.inc
need_driver

# Seconds that the processor has worked.
worked()
{
	awk '/^cpu / { print ($2 + $3 + $4 + $6 + $7 + $8) / 100 }' /proc/stat
}

# run_within SECONDS KERNEL COMMAND...: 124 when it was ended.
run_within()
{
	local limit=$1 kernel=$2 start pid

	shift 2
	start=$(worked)
	"$@" >/tmp/show.out 2>/tmp/show.err </dev/null &
	pid=$!
	while kill -0 $pid 2>/dev/null; do
		if awk "BEGIN { exit !($(worked) - $start > $limit) }"; then
			pkill -TERM -P $pid
			kill $pid
			sleep 1
			pkill -9 -x "$kernel"
			wait $pid
			return 124
		fi
		sleep 0.2
	done
	all=$(awk "BEGIN { print $(worked) - $start }")
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
