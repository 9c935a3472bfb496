#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
# timeout: 240
# slow: many faults, each of which the emulator takes long for
# A process whose pages the module serves is killed at a random moment: all others get an
# error or a SIGBUS, and end. DSM_KILLED=1000 for more rounds.
. lab/tests/guest.inc
need_dsm
prog=$PWD/$BUILD/tests/dsm/killed
RANDOM=${KILLED_SEED:-$$}

# try RANKS SEED MICROSECONDS
try()
{
	local n=$1 code gone

	timeout -k 5 90 "$MPIEXEC" -disable-auto-cleanup -timeout 80 -n "$n" "$prog" "$2" "$3" \
		>/tmp/out 2>&1
	code=$?
	gone=$(grep -c 'goes$' /tmp/out)
	[ $code = 137 ] && [ "$gone" = $((n - 1)) ] && return
	cat /tmp/out
	fail "direct=$direct mpiexec -n $n killed $2 $3: exit code $code, $gone processes ended in order"
}

for ((i = 0; i < ${DSM_KILLED:-4}; i++)); do
	direct=$((i % 2))
	echo $direct >/sys/module/o2g/parameters/direct
	try $((2 + RANDOM % 3)) $RANDOM $((1 + RANDOM * 20))
done
exit 0
