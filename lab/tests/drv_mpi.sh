# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
# timeout: 300
# MPI programs on the kernel engine: lines of tests/mpi/testlist, over tcp. The
# emulator is slow, so these are the ones about messages; T="all" in the
# environment takes every line.
. lab/tests/guest.inc
need_driver

quick="pt2pt.2 match.2 truncate.2 complete.2 persistent.3 buffered.2 probe.2
cancel.2 intercomm.2 wake.2 threads.2 errors.3"
failed=
while read -r name np args; do
	case $name in '' | '#'*) continue ;; esac
	case "$args " in *kinds=*) case $args in *tcp*) ;; *) continue ;; esac ;; esac
	if [ "${T:-}" != all ]; then
		case " $(echo $quick) " in *" $name.$np "*) ;; *) continue ;; esac
	fi
	env=
	for word in $args; do
		case $word in timeout=* | kinds=* | xfail=*) ;; *) env+=" $word" ;; esac
	done
	start=$SECONDS
	env O2G_CHANNELS=tcp $env "$MPIEXEC" -timeout 60 -n "$np" \
		"$MPI_TESTS/$name" >/tmp/out 2>&1
	rc=$?
	echo "$name.$np$env: $rc, $((SECONDS - start)) s"
	[ $rc = 0 ] && continue
	tail -n 15 /tmp/out
	failed+=" $name.$np"
done <tests/mpi/testlist
[ -z "$failed" ] || fail "on the kernel engine:$failed"
