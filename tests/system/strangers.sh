#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
# Strangers at a rank's port: garbage, a web browser, half of a hello, and
# connections that say nothing. The job does not notice.
cd "$(dirname "$0")/../.." && . tests/lib.sh
make_tmp
prog=$PWD/$BUILD/tests/system/mpi_prog
first=$((20000 + $$ % 20000)) last=$((20000 + $$ % 20000 + 9))
export O2G_CHANNELS=tcp O2G_LOG=info O2G_TCP_PORTS=$first-$last

timeout 30 "$MPIEXEC" -n 3 "$prog" exchange 3000 >"$TMP/out" 2>&1 &
pid=$!
# The address comes from where the ranks listen.
ports()
{
	ss -Hltn | awk '{ print $4 }' | awk -F: -v a="$first" -v b="$last" \
		'$NF >= a && $NF <= b'
}
three()
{
	[ "$(ports | wc -l)" -ge 3 ]
}
wait_for 10 three || { cat "$TMP/out"; fail "the ranks do not listen in $O2G_TCP_PORTS"; }

# say PORT BYTES: connect, say it, go. Never hangs.
say()
{
	timeout 2 bash -c "exec 3<>/dev/tcp/127.0.0.1/$1 && printf '$2' >&3" \
		2>/dev/null
}

for port in $(ports | sed 's/.*://'); do
	say "$port" 'GET / HTTP/1.0\r\n\r\n'
	say "$port" ''
	say "$port" 'O2Ga'
	say "$port" 'O2Ga\1\0\0\0\0\0\0\0\1\0\0\0'
	timeout 2 bash -c "exec 3<>/dev/tcp/127.0.0.1/$port &&
		head -c 65536 /dev/urandom >&3" 2>/dev/null
	# These stay, silent, until the job is over.
	for i in 1 2 3 4 5 6 7 8; do
		timeout 10 bash -c "exec 3<>/dev/tcp/127.0.0.1/$port && sleep 9" \
			2>/dev/null &
		silent+=($!)
	done
done
wait $pid
code=$?
kill "${silent[@]}" 2>/dev/null
wait
[ $code = 0 ] || { cat "$TMP/out"; fail "the job ended with $code"; }
expect "$TMP/out" 'exchanged [0-9]+ times'
expect "$TMP/out" 'dropped a connection from 127.0.0.1'
