#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
# The default agent for real: an ssh server of our own, in a network of its own.
cd "$(dirname "$0")/../.." && . tests/lib.sh && own_network && . tests/system/launch.inc

sshd=$(PATH=$PATH:/usr/sbin command -v sshd) || skip "needs sshd"
command -v ssh >/dev/null && command -v ssh-keygen >/dev/null ||
	skip "needs ssh and ssh-keygen"
if [ "$(id -u)" = 0 ]; then
	id sshd >/dev/null 2>&1 || skip "there is no user sshd"
	mkdir -p /run/sshd
fi
port=2222
ssh-keygen -q -t ed25519 -N '' -f "$TMP/key" </dev/null || fail "ssh-keygen"
ssh-keygen -q -t ed25519 -N '' -f "$TMP/hostkey" </dev/null || fail "ssh-keygen"
cat >"$TMP/sshd_config" <<END
Port $port
ListenAddress 127.0.0.1
HostKey $TMP/hostkey
AuthorizedKeysFile $TMP/key.pub
StrictModes no
PidFile none
PermitRootLogin yes
UsePAM no
END
timeout 60 "$sshd" -D -e -f "$TMP/sshd_config" >"$TMP/log" 2>&1 &
server=$!
at_exit()
{
	kill $server 2>/dev/null
}
agent="ssh -x -p $port -i $TMP/key -o BatchMode=yes -o LogLevel=ERROR \
-o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null"
wait_for 10 $agent 127.0.0.1 true || fail "sshd does not answer: $(cat "$TMP/log")"

afar()
{
	run -force-agent -agent "$agent" -hosts 127.0.0.1,localhost "$@"
}
afar -n 4 "$PROG" board
expect_rc 0
expect_lines "$TMP/out" 4

head -c 3000000 /dev/urandom >"$TMP/in"
STDIN=$TMP/in afar -stdin 1 -n 2 sh -c '[ $PMI_RANK = 1 ] && exec cat; exit 0'
expect_rc 0
cmp "$TMP/in" "$TMP/out" || fail "stdin and stdout through ssh"

afar -n 2 "$PROG" kill-self 9
expect_rc 137
expect "$TMP/err" '^mpiexec: rank 1 on localhost was killed by signal 9'

mark=$(mark)
"$MPIEXEC" -force-agent -agent "$agent" -hosts 127.0.0.1 -n 1 sleep "$mark" \
	</dev/null >/dev/null 2>&1 &
pid=$!
wait_for 5 marked "$mark" || fail "the rank does not start"
disown $pid
kill -9 $pid
wait_for 5 none_marked "$mark" || fail "kill -9 of mpiexec leaves a rank"
exit 0
