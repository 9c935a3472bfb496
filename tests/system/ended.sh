# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
# timeout: 120
# A rank ends that nobody is connected to: whoever wants something of it gets an
# error that names it, in a moment, and the others finish in order.
cd "$(dirname "$0")/../.." && . tests/lib.sh
make_tmp
prog=$MPI_TESTS/ended
host=$(hostname)

calls="recv irecv test any probe mprobe iprobe send ssend sendrecv barrier
	ibarrier bcast bcast0 allreduce gather ialltoall dup split finalize"

# job LAUNCHER CHANNEL HOW CALL: its output and exit code are left in $TMP.
job()
{
	local out=$TMP/$2.$3.$4

	O2G_CHANNELS=$2 timeout 20 $1 -n 4 "$prog" "$3" "$4" >"$out" 2>&1
	echo $? >"$out.code"
}

# went CHANNEL HOW CALL CODE: all others have had their error, and gone on.
went()
{
	local out=$TMP/$1.$2.$3

	[ "$(cat "$out.code")" = "$4" ] && [ "$(grep -c 'goes on$' "$out")" = 3 ] ||
		{
			cat "$out"
			fail "$1 $2 $3: exit code $(cat "$out.code"), not $4"
		}
	[ "$3" = finalize ] || [ "$3" = bcast0 ] ||
		expect "$out" "^$3: rank 0 after [01234]\.. s: .*rank [0-9] on $host: "
}

# A few at a time, since some of them wait by asking again and again.
for channel in shm tcp; do
	for call in $calls; do
		job "$MPIEXEC" $channel abort $call &
		while [ "$(jobs -r | wc -l)" -ge 5 ]; do
			wait -n
		done
	done
done
wait
for channel in shm tcp; do
	for call in $calls; do
		went $channel abort $call 6
		expect "$TMP/$channel.abort.$call" \
			'^mpiexec: rank 3 on .* aborts rank 3 with code 6; the others go on$'
	done
done

# Killed, or ended without a word, in a job that goes on all the same.
for how in kill exit; do
	for call in recv any ibarrier finalize; do
		job "$MPIEXEC -disable-auto-cleanup" shm $how $call &
		job "$MPIEXEC -disable-auto-cleanup" tcp $how $call &
	done
	wait
	code=137
	[ $how = kill ] || code=1
	for call in recv any ibarrier finalize; do
		went shm $how $call $code
		went tcp $how $call $code
	done
done

# A launcher that tells nobody, since it does not notice: there the ranks find out
# by themselves.
unnoticed()
{
	local out=$TMP/$1.unnoticed

	mkdir "$out"
	O2G_CHANNELS=$1 timeout 20 mpiexec.hydra -n 4 sh -c \
		"$prog kill recv >$out/\$PMI_RANK 2>&1; sleep 3" >/dev/null 2>&1
	for r in 0 1 2; do
		expect "$out/$r" \
			"^recv: rank $r after [012]\.. s: .*rank 3 on $host: its process has ended"
	done
}
if command -v mpiexec.hydra >/dev/null; then
	unnoticed shm &
	unnoticed tcp
	wait $! || exit 1
fi

# Nobody is left behind.
pgrep -f "^$prog " && fail "a rank still runs"
exit 0
