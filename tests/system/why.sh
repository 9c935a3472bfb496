#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
# timeout: 180
# o2g why: programs that hang are explained, on one host and on several, as text and as
# JSON; mpiexec -why does it by itself, and not for programs that run.
cd "$(dirname "$0")/../.." && . tests/lib.sh
make_tmp
src=tests/system/why_prog.c
prog=$TMP/why_prog
"$MPICC" -g -O1 -std=gnu11 -o "$prog" $src || fail "why_prog does not compile"
job=

at_exit()
{
	[ -z "$job" ] || { kill "$job"; wait "$job"; } 2>/dev/null
}

# line CASE: where the program is stuck.
line()
{
	echo "why_prog.c:$(($(grep -n "^[[:space:]]*/\* $1 \*/$" $src | cut -d: -f1) + 1))"
}

# hang CASE OPTIONS...: start it.
hang()
{
	local what=$1

	shift
	"$MPIEXEC" -timeout 60 -n 3 "$@" "$prog" "$what" >"$TMP/job" 2>&1 </dev/null &
	job=$!
}

end()
{
	kill "$job" 2>/dev/null
	wait "$job" 2>/dev/null
	job=
}

# What is found, on one line.
ask()
{
	timeout 20 "$O2G" why "$job" >"$TMP/why" 2>&1 || return
	squeeze "$TMP/why"
}

squeeze()
{
	tr '\n' ' ' <"$1" | tr -s ' ' >"$TMP/words"
}

says()
{
	ask && grep -Eq -- "$1" "$TMP/words"
}

# explained CASE PATTERN OPTIONS...: soon `o2g why` says this. Ranks that have not come
# to where they hang yet are no reason to fail on a slow machine.
explained()
{
	local what=$1 pattern=$2

	shift 2
	hang "$what" "$@"
	wait_for 30 says "$pattern" || {
		cat "$TMP/job" "$TMP/why"
		fail "$what: no such words: $pattern"
	}
	end
}

at="at $(line circle)"
explained circle "Ranks 0-2 wait for each other in a circle: rank 0 waits in MPI_Recv $at, for a message from rank 1 with tag 3 on MPI_COMM_WORLD .*; rank 1 waits .* from rank 2 .*; rank 2 waits .* from rank 0 "
explained missing "Ranks 0 and 2 wait in MPI_Barrier at $(line missing) on MPI_COMM_WORLD for rank 1, which has not called it: rank 1 .* it computes"
explained order "different collectives on MPI_COMM_WORLD, in the 1st collective call there: ranks 0 and 2 called MPI_Bcast at $(line order), rank 1 called MPI_Gather at $(line order-gather)"
explained order-comms "circle: rank 0 waits in MPI_Barrier at $(line order-comms), on solver, for ranks 1 and 2, which have not called it; rank [12] waits .* on MPI_COMM_WORLD, for rank 0, which has not"
explained root "disagree about the root of an MPI_Gather on MPI_COMM_WORLD, .* ranks 0 and 2 gave root 0 at $(line root), rank 1 gave root 1 at $(line root)"
explained tag "Rank 1 waits in MPI_Recv at $(line tag), .* tag 8 .* A message has come from rank 0, but with tag 7 .* tags of the two calls differ.*Rank 1: 1 message: from rank 0, tag 7, on MPI_COMM_WORLD, 4 bytes"
explained comm "Rank 1 waits in MPI_Recv at $(line comm), .* tag 7 on MPI_COMM_WORLD .* but with tag 7 on solver: the two calls use different communicators"
explained send "Ranks 0 and 1 wait .* circle: rank 0 waits in MPI_Send at $(line send), to send 1024 KiB to rank 1 .* has not asked for it; rank 1 "
explained ssend "Rank 0 waits in MPI_Ssend at $(line ssend), to send 4 bytes to rank 1 with tag 9 .*ends only when it is received; rank 1 waits in MPI_Recv"
explained memory "Rank 0 waits in MPI_Send at $(line memory), .* has no memory left for it\. [0-9]+ messages, which take .* lie at rank 1 .*O2G_UNEXPECTED" \
	-genv O2G_UNEXPECTED 1M -genv O2G_PEER_BUDGET 1M
explained any "Ranks 0-2 wait for a message from any rank, but every other rank waits as well"
explained probe "circle: rank 0 calls MPI_Iprobe in a loop at $(line probe) and finds nothing, waiting for a message from rank 1 with tag 5 .* rank 1 waits in MPI_Barrier at $(line probe-barrier), .* for rank 0"
explained test "rank 0 calls MPI_Test in a loop at $(line test) .* from rank 2 with tag 6"
explained stop "Rank 1 \(process [0-9]+ on .*\) is stopped by a signal, and ranks 0 and 2 wait for it. .kill -CONT"
explained waitall "circle: rank 0 waits in MPI_Waitall at $(line waitall), for a message from rank 1 with tag 2 on"
explained later "Ranks 0 and 1 wait for rank 2, which .* computes.*Ranks 0 and 1 wait in MPI_Wait at $(line later) .*nonblocking collective on solver"
explained split "Ranks 0 and 2 wait in MPI_Comm_split at $(line split) on MPI_COMM_WORLD for rank 1, which has not called it"

explained lock "circle: rank 0 waits in MPI_Recv at $(line lock-recv), .*; rank 1 waits in MPI_Win_lock at $(line lock), for the lock of rank 2 in a window, which rank 0 holds;"

explained post "circle: rank 0 waits in MPI_Win_complete at $(line post), for MPI_Win_post of rank 1; rank 1 waits in MPI_Recv at $(line post-recv), for a message from rank 0"
explained complete "circle: rank 0 waits in MPI_Win_wait at $(line complete), for MPI_Win_complete of rank 1; rank 1 waits in MPI_Recv"
explained partitions "Rank 0 waits in MPI_Wait at $(line partitions), to send partitions with tag 5 on MPI_COMM_WORLD, of which 3 of 4 are not marked ready .MPI_Pready.: unless another thread of it does that, it waits for ever, and ranks 1 and 2 wait for it"
explained accept "Rank 0 waits in MPI_Comm_accept at $(line accept) for [0-9]+ s, for another job at a port"

# A rank that has ended, and the others go on: whoever waits for a message of its own
# is told, but a receive from anybody may be for a third one.
explained ended "Ranks 0 and 2 wait for a message from any rank, but every other rank waits as well, or has ended.*Rank 1 was killed by signal 9 .*without MPI_Finalize" \
	-disable-auto-cleanup

# Several hosts, each with a proxy.
cat >"$TMP/agent" <<'END'
#!/bin/sh
shift
exec "$@"
END
chmod +x "$TMP/agent"
# there CASE PATTERN: the same with each rank on a host of its own.
there()
{
	explained "$1" "Job .* on 3 hosts; .*$2" -hosts a,b,c -agent "$TMP/agent" \
		-force-agent
}
there tag "tags of the two calls differ"
there circle "Ranks 0-2 wait for each other in a circle"
there missing "wait in MPI_Barrier .* for rank 1, which has not called it"
there order "different collectives on MPI_COMM_WORLD"
there root "disagree about the root of an MPI_Gather"
there stop "Rank 1 .* is stopped by a signal"
there lock "for the lock of rank 2 in a window, which rank 0 holds"
# A program in a script, and over tcp.
cat >"$TMP/wrapped" <<END
#!/bin/sh
"$prog" "\$@"
END
chmod +x "$TMP/wrapped"
plain=$prog
prog=$TMP/wrapped
explained circle "Ranks 0-2 wait for each other .* $at" -genv O2G_CHANNELS tcp
prog=$plain

# JSON, and which job.
hang circle
wait_for 30 says "circle" || fail "no circle"
timeout 20 "$O2G" why --json "$job" >"$TMP/json" || fail "--json"
python3 - "$TMP/json" <<'END' || fail "--json has something else"
import json, sys
j = json.load(open(sys.argv[1]))
assert [f["kind"] for f in j["findings"]] == ["circle"], j["findings"]
assert j["findings"][0]["ranks"] == [0, 1, 2]
r = j["ranks"][2]
w = r["waits"][0]
assert r["does"] == "waits" and w["call"] == "MPI_Recv"
assert w["for"][0]["rank"] == 0 and w["for"][0]["tag"] == 3
assert w["for"][0]["communicator"] == "MPI_COMM_WORLD"
assert w["seconds"] > 0 and w["where"].startswith("why_prog.c:")
END
"$O2G" why 1 >"$TMP/out" 2>&1 && fail "process 1 is a job"
expect "$TMP/out" "process 1 is no mpiexec of O2G"
end
"$O2G" why nonsense >"$TMP/out" 2>&1 && fail "nonsense is a job"
expect "$TMP/out" "^usage: o2g why"

# A job that ends while it is asked: mpiexec does not get to the question.
asked()
{
	[ "$(grep -c "@o2g-why/[0-9]*/$job\$" /proc/net/unix)" -ge 2 ]
}
hang circle
wait_for 30 says "circle" || fail "no circle"
kill -STOP "$job"
timeout 20 "$O2G" why "$job" >"$TMP/out" 2>&1 &
asker=$!
wait_for 20 asked || {
	kill -CONT "$job"
	fail "o2g why does not connect"
}
kill -KILL "$job"
wait "$asker" && fail "a job that has ended is explained"
expect "$TMP/out" "^o2g: the job of process $job has just ended$"
end

# By itself. It is said once while nothing moves, so a rank that was late on a slow
# machine is a reason to try again.
told()
{
	squeeze "$TMP/job"
	grep -Eq -- "nothing has moved for 2 s .*$1" "$TMP/words"
}

# by_itself CASE PATTERN: the job still runs afterwards.
by_itself()
{
	local try

	for try in 1 2; do
		hang "$1" -why 2
		wait_for 15 told "$2" && return
		end
	done
	cat "$TMP/job"
	fail "-why, $1, $try times: no such words: $2"
}

times_told()
{
	grep -c '^mpiexec: nothing has moved' "$TMP/job"
}

by_itself circle "in a circle"
before=$(times_told)
sleep 3
[ "$(times_told)" = "$before" ] || fail "it is said again and again"
end
by_itself probe "MPI_Iprobe in a loop"
end
# Not for those that run.
for what in slow-ok trickle-ok looks-ok; do
	timeout 60 "$MPIEXEC" -why 2 -n 3 "$prog" $what >"$TMP/out" 2>&1 ||
		fail "$what failed"
	expect_not "$TMP/out" "nothing has moved"
done
exit 0
