#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
# What is wrong in the environment is said, with what would be right.
cd "$(dirname "$0")/../.." && . tests/lib.sh
make_tmp
prog=$PWD/$BUILD/tests/system/mpi_prog

# said PATTERN VARIABLE=VALUE: o2g info says it on standard error.
said()
{
	env "$2" "$O2G" info >"$TMP/out" 2>"$TMP/err"
	expect "$TMP/err" "$1"
}

said 'O2G_CHANELS is not a setting.*did you mean O2G_CHANNELS\?' O2G_CHANELS=tcp
said 'O2G_TCP_INTERFACE .*did you mean O2G_TCP_INTERFACES\?' O2G_TCP_INTERFACE=x
said 'O2G_UNEXPECTED is "lots", but a size .* using 64M' O2G_UNEXPECTED=lots
said 'O2G_SPIN is "x", but a whole number' O2G_SPIN=x
said 'O2G_STATS is "maybe", but 0 or 1' O2G_STATS=maybe
said 'O2G_LOG is "loud"' O2G_LOG=loud
said 'O2G_TCP_CHUNK is 1, but 4096 to .* is possible; using 4096' O2G_TCP_CHUNK=1
said 'O2G_TCP_RCVBUF is 1, but 0 or 16384 to .*; using 16384' O2G_TCP_RCVBUF=1
said 'O2G_TCP_SNDBUF is [0-9]+, but .*; using 1073741824' O2G_TCP_SNDBUF=18446744073709551615
said 'O2G_TCP_TIMEOUT is 9223372036854775807, but 1 to 1000000' O2G_TCP_TIMEOUT=9223372036854775807
said 'O2G_TCP_SILENCE is -5, but 6 to 3600 is possible; using 6' O2G_TCP_SILENCE=-5
said 'O2G_COLL: allreduce has no algorithm "dubling"; it has .*doubling' O2G_COLL=allreduce=dubling
said 'O2G_COLL: there is no collective "alreduce"; there are .*allreduce' O2G_COLL=alreduce=doubling
said 'O2G_COLL: the bytes in "bcast=linear:1-x" are not a range' O2G_COLL=bcast=linear:1-x
said 'O2G_COLL has "bcast", but wants collective=algorithm' O2G_COLL=bcast
said 'O2G_CHANNELS names "tpc", which is not a channel' O2G_CHANNELS=tpc

env -u O2G_CHANNELS O2G_LOG=info "$O2G" info >"$TMP/out" 2>"$TMP/err" ||
	fail "o2g info fails"
[ -s "$TMP/err" ] && { cat "$TMP/err"; fail "words about nothing"; }
for ours in O2G_CC O2G_CXX O2G_FC; do
	env -u O2G_CHANNELS $ours=x "$O2G" info 2>"$TMP/err" >/dev/null
	[ -s "$TMP/err" ] && { cat "$TMP/err"; fail "$ours is one of ours"; }
done
expect "$TMP/out" 'O2G_LOG +info +environment'
expect "$TMP/out" 'O2G_CHANNELS +shm,bpf,tcp +default'
expect "$TMP/out" '^  allreduce +shared '
O2G_COLL=bcast=linear:4k- "$O2G" info >"$TMP/out" 2>&1
expect "$TMP/out" '^  bcast +O2G_COLL: linear 4k- bytes; '
env -u O2G_CHANNELS O2G_LOG=info "$O2G" info >"$TMP/out" 2>"$TMP/err"
expect "$TMP/out" '^user engine: '
[ "$(grep -c '^  O2G_' "$TMP/out")" = "$(grep -c '^SETTING(' base/settings.def)" ] ||
	fail "not every setting is listed"

if [ ! -e /dev/o2g ]; then
	O2G_ENGINE=kernel "$O2G" info >"$TMP/out" 2>&1 &&
		fail "there is no kernel engine, and info is content"
	expect "$TMP/out" 'O2G_ENGINE=kernel cannot be met: /dev/o2g'
fi
O2G_ENGINE=fast "$O2G" info >"$TMP/out" 2>&1 && fail "O2G_ENGINE=fast"
expect "$TMP/out" 'O2G_ENGINE is "fast", but auto, user or kernel'
O2G_CHANNELS=tcp "$O2G" info >"$TMP/out" 2>&1
expect "$TMP/out" 'shm +not used: O2G_CHANNELS leaves it out'

O2G_LAUNCHER=nobody timeout 20 "$prog" rank >"$TMP/out" 2>&1
expect "$TMP/out" 'O2G_LAUNCHER is "nobody", but pmi1, pmi2, pmix or none'
"$O2G" inof >"$TMP/out" 2>&1 && fail "o2g inof"
expect "$TMP/out" 'there is no command "inof"'
"$O2G" version | grep -q '^o2g [0-9]' || fail "o2g version"

# The same from an MPI program, and the job goes on.
O2G_TCP_EAGR=1k timeout 20 "$MPIEXEC" -n 2 "$prog" exchange 50 >"$TMP/out" 2>&1 ||
	{ cat "$TMP/out"; fail "the job should have gone on"; }
expect "$TMP/out" 'did you mean O2G_TCP_EAGER\?'
[ -e /dev/o2g ] && exit 0
O2G_ENGINE=kernel timeout 20 "$MPIEXEC" -n 2 "$prog" exchange 50 >"$TMP/out" 2>&1 &&
	fail "an MPI program runs on an engine that is not there"
expect "$TMP/out" 'O2G_ENGINE=kernel cannot be met'
