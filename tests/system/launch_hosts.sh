#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
# Several hosts through an agent: placement, variables, directories, failures.
# The agent here runs everything on this machine, so it needs no privilege.
cd "$(dirname "$0")/../.." && . tests/lib.sh && . tests/system/launch.inc

# As ssh does: the words are joined and given to a shell, elsewhere, with
# another environment.
cat >"$TMP/agent" <<'END'
#!/bin/sh
host=$1
shift
[ "$host" = nowhere ] && echo "agent: no route to nowhere" >&2 && exit 255
echo "$host: $*" >>"$AGENT_LOG"
cd /
exec env -i PATH="$PATH" HOST_IS="$host" sh -c "$*"
END
# As `ip netns exec` does: the words are the command.
cat >"$TMP/agent-words" <<'END'
#!/bin/sh
HOST_IS=$1
export HOST_IS
shift
exec "$@"
END
# Says things before and after, without an end of line.
cat >"$TMP/agent-chatty" <<'END'
#!/bin/sh
host=$1
shift
echo "Welcome to $host!"
printf "last login: never"
exec "$@"
END
cat >"$TMP/agent-deaf" <<'END'
#!/bin/sh
exec sleep 30
END
cat >"$TMP/agent-drone" <<'END'
#!/bin/sh
exec tr '\000' x </dev/zero 2>/dev/null
END
cat >"$TMP/agent-long" <<'END'
#!/bin/sh
shift
seq 20000
exec "$@"
END
# Relays the bytes, as ssh does: a connection that can be cut.
cat >"$TMP/agent-relay" <<'END'
#!/bin/sh
shift
cat | sh -c "exec $*" | cat
END
chmod +x "$TMP"/agent*
export AGENT_LOG=$TMP/log
: >"$AGENT_LOG"
where='echo $PMI_RANK $HOST_IS $MPI_LOCALRANKID/$MPI_LOCALNRANKS'

run -agent "$TMP/agent" -hosts a,b -n 4 sh -c "$where"
expect_rc 0
sorted_is "0 a 0/2
1 b 0/2
2 a 1/2
3 b 1/2"
expect_lines "$AGENT_LOG" 2

run -agent "$TMP/agent" -host a:2,b:1 -n 4 sh -c "$where"
expect_rc 0
sorted_is "0 a 0/3
1 a 1/3
2 b 0/1
3 a 2/3"

run -agent "$TMP/agent-words" -ppn 2 -hosts a,b -n 4 sh -c "$where"
expect_rc 0
sorted_is "0 a 0/2
1 a 1/2
2 b 0/2
3 b 1/2"

# How many, when it is not said: the slots.
run -agent "$TMP/agent-words" -hosts a:2,b sh -c "$where"
expect_rc 0
expect_lines "$TMP/out" 3

cat >"$TMP/hosts" <<'END'
# two machines
a:2	# the large one

b slots=1 max_slots=2
END
for option in -f -hostfile -machinefile; do
	run -agent "$TMP/agent" $option "$TMP/hosts" -n 3 sh -c "$where"
	expect_rc 0
	sorted_is "0 a 0/2
1 a 1/2
2 b 0/1"
done

# A program with a host of its own.
run -agent "$TMP/agent" -host a -n 1 sh -c "$where" : -host b -n 1 sh -c "$where"
expect_rc 0
sorted_is "0 a 0/1
1 b 0/1"

# The board works across hosts, and so does the description of who is where.
run -agent "$TMP/agent" -hosts a,b,c -n 7 "$PROG" board
expect_rc 0
expect_lines "$TMP/out" 7
run -agent "$TMP/agent" -hosts a:2,b:2,c:1 -n 5 "$PROG" key PMI_process_mapping
expect_rc 0
[ "$(sort -u "$TMP/out")" = "(vector,(0,2,2),(2,1,1))" ] ||
	fail "the mapping is $(sort -u "$TMP/out")"
run -agent "$TMP/agent" -hosts a,b -n 5 "$PROG" key PMI_process_mapping
[ "$(sort -u "$TMP/out")" = "(vector,(0,2,1),(0,2,1),(0,1,1))" ] ||
	fail "the mapping is $(sort -u "$TMP/out")"

# This host needs no agent, unless it is wanted.
: >"$AGENT_LOG"
run -agent "$TMP/agent" -hosts "localhost,$(hostname),127.0.0.1" -n 3 \
	"$PROG" key PMI_process_mapping
expect_rc 0
[ "$(sort -u "$TMP/out")" = "(vector,(0,1,3))" ] ||
	fail "names of this host are not one host: $(sort -u "$TMP/out")"
expect_lines "$AGENT_LOG" 0
run -force-agent -agent "$TMP/agent" -hosts localhost -n 1 sh -c "$where"
expect_rc 0
sorted_is "0 localhost 0/1"

# Variables: O2G_ always, others on wish.
export O2G_LOG=error ALPHA="a b" BETA=b
env='echo "${O2G_LOG-no} ${ALPHA-no} ${BETA-no} ${GAMMA-no}"'
run -agent "$TMP/agent" -hosts a -n 1 sh -c "$env"
sorted_is "error no no no"
run -agent "$TMP/agent" -x ALPHA -x GAMMA=c -hosts a -n 1 sh -c "$env"
sorted_is "error a b no c"
run -agent "$TMP/agent" -genvlist ALPHA,BETA -hosts a -n 1 sh -c "$env"
sorted_is "error a b b no"
run -agent "$TMP/agent" -genvall -hosts a -n 1 sh -c "$env"
sorted_is "error a b b no"
run -agent "$TMP/agent" -genvnone -x BETA -hosts a -n 1 sh -c "$env"
sorted_is "no no b no"

# The directory: ours, or the one that is said.
mkdir "$TMP/here dir"
(cd "$TMP/here dir" && timeout 10 "$MPIEXEC" -agent "$TMP/agent" -hosts a,b \
	-n 2 pwd </dev/null >"$TMP/out") || fail "in another directory"
[ "$(sort -u "$TMP/out")" = "$TMP/here dir" ] || fail "ranks run elsewhere"
run -agent "$TMP/agent" -hosts a -wdir /usr -n 1 pwd
sorted_is /usr
run -agent "$TMP/agent" -hosts a -wd /not/there -n 1 pwd
expect_rc 126
expect "$TMP/err" 'cannot use the working directory /not/there on a: No such'

# What a login script says is shown, and does no harm.
run -agent "$TMP/agent-chatty" -hosts a -n 2 "$PROG" board
expect_rc 0
expect_lines "$TMP/out" 2
expect "$TMP/err" '^a: Welcome to a!'

# stdin and failures work the same from afar.
echo hello >"$TMP/in"
STDIN=$TMP/in run -agent "$TMP/agent" -hosts a,b -stdin 1 -n 2 cat
expect_rc 0
sorted_is hello
run -agent "$TMP/agent" -hosts a,b -n 2 "$PROG" kill-self 9
expect_rc 137
expect "$TMP/err" '^mpiexec: rank 1 on b was killed by signal 9 \(Killed\); the job is ended'
expect_lines "$TMP/err" 1
run -agent "$TMP/agent" -hosts a,b -n 2 "$PROG" abort 7
expect_rc 7
run -agent "$TMP/agent" -hosts a,b -n 2 /no/such/program
expect_rc 127
expect "$TMP/err" 'cannot start /no/such/program on [ab]: No such file'

# Hosts that are not there, agents that are not there.
run -agent "$TMP/agent" -hosts a,nowhere -n 2 sleep 20
expect_rc 1
expect "$TMP/err" 'cannot start on host nowhere: the agent ended with code 255'
run -agent /no/such/agent -hosts a -n 1 true
expect_rc 1
expect "$TMP/err" 'cannot start on host a: the agent ended with code 127; check that `/no/such/agent a true`'
# One that prints forever, with lines or without, and never starts a proxy.
begin=$(now_ms)
run -agent yes -hosts a -n 1 true
expect_rc 1
expect "$TMP/err" '^mpiexec: cannot start on host a: the agent keeps printing \("a [^"]*\.\.\."\) and does not start o2g-proxy; check that `yes a true` prints nothing and ends$'
expect "$TMP/err" 'more lines are not shown'
[ "$(wc -l <"$TMP/err")" -lt 110 ] || fail "all that the agent prints is shown"
run -agent "$TMP/agent-drone" -hosts a -n 1 true
expect_rc 1
expect "$TMP/err" 'cannot start on host a: the agent keeps printing \("xxx'
expect_lines "$TMP/err" 1
[ $(($(now_ms) - begin)) -lt 15000 ] || fail "an agent that prints is heard for long"
# Not so one that only says much.
run -agent "$TMP/agent-long" -hosts a -n 1 true
expect_rc 0
run -agent "$TMP/agent-deaf" -timeout 1 -hosts a -n 1 true
expect_rc 124

# Nobody is there to pass a signal on to: the first one ends the job.
begin=$(now_ms)
timeout --preserve-status 1 "$MPIEXEC" -agent "$TMP/agent-deaf" -hosts a -n 1 true \
	</dev/null >"$TMP/out" 2>"$TMP/err"
rc=$?
expect_rc 143
expect "$TMP/err" 'signal 15 \(Terminated\) before host a has answered; the job is ended'
[ $(($(now_ms) - begin)) -lt 10000 ] || fail "the signal took too long"

# Killing mpiexec ends what runs elsewhere.
mark=$(mark)
at_exit()
{
	pkill -KILL -xf -- "sleep $mark"
}
"$MPIEXEC" -agent "$TMP/agent" -hosts a,b -n 2 sleep "$mark" </dev/null &
pid=$!
wait_for 5 marked "$mark" || fail "the ranks do not start"
disown $pid
kill -9 $pid
wait_for 3 none_marked "$mark" || fail "ranks on other hosts are left behind"

# So does a connection that is lost.
"$MPIEXEC" -agent "$TMP/agent-relay" -hosts a,b -n 2 sleep "$mark" </dev/null \
	2>"$TMP/err" &
pid=$!
both_marked()
{
	[ "$(pgrep -cxf -- "sleep $mark")" = 2 ]
}
wait_for 5 both_marked || fail "the ranks do not start"
agent=$(pgrep -P $pid | head -n 1)
kill -9 "$(pgrep -P "$agent" -x cat | head -n 1)"
wait_for 5 none_marked "$mark" || fail "ranks of a lost host are left behind"
wait $pid
rc=$?
expect_rc 1
expect "$TMP/err" 'lost host [ab]'
exit 0
