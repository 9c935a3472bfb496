#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
# timeout: 300
# MPI programs on the kernel engine: lines of tests/mpi/testlist, over tcp. The
# emulator is slow, so these are a few about messages and windows. LAB_ALL=1 in the
# environment takes every line, also those that are for shared memory elsewhere (kinds=), but
# two: large_count, whose messages of more than 2 GiB do not fit into a guest, and
# coll_ahead, whose 600,000 collectives are about room in shared memory and would take
# the emulator hours. LAB_LINES="name name.ranks ..." takes those that it names.
. lab/tests/guest.inc
need_driver

LAB_ALL=${LAB_ALL:-0} LAB_LINES=${LAB_LINES:-}
quick=" match.2 truncate.2 complete.2 burst.2 buffered.2 probe.2 cancel.2 intercomm.2 errors.3 win_sync.2 win_atomic.2 win_progress.2 "

# wanted NAME RANKS
wanted()
{
	if [ -n "$LAB_LINES" ]; then
		case " $LAB_LINES " in *" $1 "* | *" $1.$2 "*) return 0 ;; *) return 1 ;; esac
	elif [ "$LAB_ALL" = 0 ]; then
		case $quick in *" $1.$2 "*) return 0 ;; *) return 1 ;; esac
	fi
	case $1 in large_count | coll_ahead) return 1 ;; esac
}

failed= ran=" "
while read -r name np args; do
	case $name in '' | '#'*) continue ;; esac
	wanted "$name" "$np" || continue
	env=
	for word in $args; do
		case $word in timeout=* | kinds=* | xfail=*) ;; *) env+=" $word" ;; esac
	done
	start=$SECONDS
	env O2G_CHANNELS=tcp $env "$MPIEXEC" -timeout $((LAB_ALL ? 300 : 60)) -n "$np" \
		"$MPI_TESTS/$name" >/tmp/out 2>&1 </dev/null
	rc=$?
	echo "$name.$np$env: $rc, $((SECONDS - start)) s"
	ran+="$name.$np "
	[ $rc = 0 ] && continue
	tail -n 15 /tmp/out
	failed+=" $name.$np"
done <tests/mpi/testlist
for name in ${LAB_LINES:-$quick}; do
	case $ran in
	*" $name "* | *" $name."*) ;;
	*) failed+=" $name (not in the list)" ;;
	esac
done
[ -z "$failed" ] || fail "on the kernel engine:$failed"
