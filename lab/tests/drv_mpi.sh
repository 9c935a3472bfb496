# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
# timeout: 300
# MPI programs on the kernel engine: lines of tests/mpi/testlist, over tcp. The
# emulator is slow, so these are a few about messages; LAB_ALL=1 in the environment
# takes every line.
. lab/tests/guest.inc
need_driver

LAB_ALL=${LAB_ALL:-0}
quick=" match.2 truncate.2 complete.2 burst.2 buffered.2 probe.2 cancel.2 intercomm.2 errors.3 "
failed= ran=" "
while read -r name np args; do
	case $name in '' | '#'*) continue ;; esac
	case "$args " in *kinds=*) case $args in *tcp*) ;; *) continue ;; esac ;; esac
	if [ "$LAB_ALL" = 0 ]; then
		case $quick in *" $name.$np "*) ;; *) continue ;; esac
	fi
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
for name in $quick; do
	case $ran in *" $name "*) ;; *) failed+=" $name (not in the list)" ;; esac
done
[ -z "$failed" ] || fail "on the kernel engine:$failed"
