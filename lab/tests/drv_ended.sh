#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
# timeout: 90
# A rank ends in a job that goes on, on the kernel engine: what the others wait for
# ends with an error, whoever holds it, and what they have among themselves works.
# Over the driver alone, and with shm beside it between two hosts. LAB_ALL=1 in the
# environment takes every call of tests/mpi/ended.c.
. lab/tests/guest.inc
need_driver
ip link set lo up
netns_pair || fail "no namespaces"

limit=20
[ ! -e /sys/kernel/debug/kmemleak ] || limit=80 # a slow kernel
calls="any2 barrier dup" nets="ibarrier" kills="barrier"
if [ "${LAB_ALL:-0}" != 0 ]; then
	calls="recv irecv test any probe mprobe iprobe send ssend sendrecv barrier
		ibarrier bcast bcast0 allreduce gather ialltoall dup split any2 mixed
		persistent others finalize"
	nets=$calls kills=$calls
fi

# job NAME CALL HOW CODE COMMAND...: the three others get their errors and go on.
job()
{
	local name=$1.$2 call=$2 how=$3 want=$4 rc

	shift 4
	timeout $limit "$@" "$MPI_TESTS/ended" "$how" "$call" >"/tmp/$name" 2>&1 </dev/null
	rc=$?
	echo "$name: $rc, $SECONDS s"
	[ $rc = "$want" ] && [ "$(grep -c 'goes on$' "/tmp/$name")" = 3 ] && return
	cat "/tmp/$name"
	echo "$name" >>/tmp/failed
}

# They sleep most of the time.
room()
{
	while [ "$(jobs -r | wc -l)" -ge 3 ]; do
		wait -n
	done
}

rm -f /tmp/failed
for call in $nets; do
	job nets "$call" abort 6 "$MPIEXEC" -agent "$PWD/tests/netns-agent" \
		-hosts "$NETNS_A,$NETNS_B" -ppn 2 -n 4 &
	room
done
export O2G_CHANNELS=tcp
for call in $calls; do
	job tcp "$call" abort 6 "$MPIEXEC" -n 4 &
	room
done
for call in $kills; do
	job kill "$call" kill 137 "$MPIEXEC" -disable-auto-cleanup -n 4 &
	room
done
wait
[ ! -e /tmp/failed ] || fail "on the kernel engine: $(paste -sd' ' /tmp/failed)"
