#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
# timeout: 120
# A rank ends that nobody is connected to: whoever wants something of it gets an
# error that names it, in a moment, and the others finish in order. Over shm and tcp,
# over both at once between namespaces, and over bpf; ENDED=all tries every call there.
cd "$(dirname "$0")/../.." && . tests/lib.sh
make_tmp
prog=$MPI_TESTS/ended

all="recv irecv test any probe mprobe iprobe send ssend sendrecv sendrecv2 waitall barrier ibarrier
	bcast bcast0 allreduce gather ialltoall dup split any2 mixed persistent others
	intercomm intercomms finalize"
some="recv any allreduce ibarrier finalize"
[ "${ENDED:-}" != all ] || some=$all

# job WHERE HOW CALL CODE COMMAND...: all others have their error, and go on.
job()
{
	local where=$1 how=$2 call=$3 want=$4 out=$TMP/$1.$2.$3 code

	shift 4
	timeout 20 "$@" "$prog" "$how" "$call" >"$out" 2>&1
	code=$?
	[ $code = "$want" ] && [ "$(grep -c 'goes on$' "$out")" = 3 ] || {
		cat "$out"
		echo "$where $how $call: exit code $code, not $want" >>"$TMP/failed"
	}
	case $call in
	finalize | bcast0 | any2 | others | mixed) ;; # fail elsewhere, or by class
	intercomms) ;; # so many take their time on a busy machine
	*)
		grep -q "^$call: rank 0 after [01234]\.. s: .*rank [0-9] on [^ ]*: " \
			"$out" || echo "$where $how $call: no such words" >>"$TMP/failed" ;;
	esac
	[ "$how" != abort ] ||
		grep -q '^mpiexec: rank 3 on .* aborts rank 3 with code 6; the others go on$' \
			"$out" || echo "$where $call: mpiexec" >>"$TMP/failed"
}

# Some of them wait by asking again and again: so not all at a time.
room()
{
	while [ "$(jobs -r | wc -l)" -ge "$1" ]; do
		wait -n
	done
}

# A launcher that tells nobody, since it does not notice: there the ranks find out
# by themselves.
unnoticed()
{
	local out=$TMP/$1.unnoticed

	mkdir "$out"
	O2G_CHANNELS=$1 timeout 20 mpiexec.hydra -n 4 sh -c \
		"$prog kill recv >$out/\$PMI_RANK 2>&1; sleep 3" >/dev/null 2>&1
	for r in 0 1 2; do
		grep -q "^recv: rank $r after [012]\.. s: .*rank 3 on [^ ]*: its process has ended" \
			"$out/$r" || cat "$out/$r" >>"$TMP/failed"
	done
}
if command -v mpiexec.hydra >/dev/null; then
	unnoticed shm &
	unnoticed tcp &
fi

channels="shm tcp"
bpf_load 16 >/dev/null && channels+=" bpf"
for channel in $channels; do
	export O2G_CHANNELS=$channel
	calls=$all
	[ $channel != bpf ] || calls=$some
	for call in $calls; do
		job $channel abort $call 6 "$MPIEXEC" -n 4 &
		room 9
	done
	# Killed, or ended without a word, in a job that goes on all the same.
	for call in $some; do
		job $channel kill $call 137 "$MPIEXEC" -disable-auto-cleanup -n 4 &
		job $channel exit $call 1 "$MPIEXEC" -disable-auto-cleanup -n 4 &
		room 9
	done
	[ $channel != bpf ] || room 1
done
unset O2G_CHANNELS
if netns_possible && netns_pair; then
	for call in $some; do
		job nets abort $call 6 "$MPIEXEC" -agent "$PWD/tests/netns-agent" \
			-hosts "$NETNS_A,$NETNS_B" -ppn 2 -n 4 &
		room 9
	done
fi
wait
[ ! -s "$TMP/failed" ] || {
	cat "$TMP/failed"
	fail "see above"
}
# Nobody is left behind.
pgrep -f "^$prog " && fail "a rank still runs"
exit 0
