#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
# timeout: 180
# O2G_ENCRYPT=1: a capture of the cable between two hosts shows hellos and TLS and no
# plain byte, and would show one; what cannot be encrypted is refused, with words; keys
# are changed under way; cables that are cut and ranks that are killed are noticed.
cd "$(dirname "$0")/../.." && . tests/lib.sh
make_tmp
prog=$PWD/$BUILD/tests/system/encrypt_prog
O2G_ENCRYPT=1 "$O2G" info >"$TMP/info" 2>&1 ||
	{ grep -q 'built without GnuTLS' "$TMP/info" && skip "built without GnuTLS"; }

# --- what info says, and what is refused ---
expect "$TMP/info" '^encryption: TLS 1.3 on every connection of tcp; GnuTLS '
expect "$TMP/info" 'bpf +not usable: O2G_ENCRYPT=1'
expect "$TMP/info" 'user engine: O2G_ENCRYPT=1'
"$O2G" info | grep -q '^encryption: off' || fail "info says that it is on"

# Without the library nothing starts. An empty file stands in its place.
mkdir "$TMP/none" && : >"$TMP/none/libgnutls.so.30"
LD_LIBRARY_PATH=$TMP/none O2G_ENCRYPT=1 timeout 20 "$MPIEXEC" -n 2 "$prog" \
	>"$TMP/out" 2>&1 && fail "a job without GnuTLS has started"
expect "$TMP/out" 'O2G_ENCRYPT=1 cannot be met: .*libgnutls'
LD_LIBRARY_PATH=$TMP/none timeout 20 "$MPIEXEC" -n 2 "$prog" >"$TMP/out" 2>&1 ||
	{ cat "$TMP/out"; fail "a job in clear needs GnuTLS"; }
# Nor where the host's policy forbids our ciphers.
printf '[overrides]\ntls-disabled-cipher = %s\n' AES-128-GCM >"$TMP/policy"
echo 'tls-disabled-cipher = CHACHA20-POLY1305' >>"$TMP/policy"
GNUTLS_SYSTEM_PRIORITY_FILE=$TMP/policy O2G_ENCRYPT=1 timeout 20 "$MPIEXEC" -n 2 \
	"$prog" >"$TMP/out" 2>&1 && fail "a job without ciphers has started"
expect "$TMP/out" 'O2G_ENCRYPT=1 cannot be met: GnuTLS refuses .*ChaCha20-Poly1305: '
O2G_ENCRYPT=1 O2G_ENGINE=kernel timeout 20 "$MPIEXEC" -n 2 "$prog" \
	>"$TMP/out" 2>&1 && fail "the driver encrypts"
expect "$TMP/out" 'O2G_ENGINE=kernel cannot be met: O2G_ENCRYPT=1'
# A value that is not understood protects.
O2G_ENCRYPT=please "$O2G" info >"$TMP/out" 2>&1
expect "$TMP/out" 'O2G_ENCRYPT is "please", but 0 or 1 is expected; using 1'
expect "$TMP/out" '^encryption: TLS 1.3'

# One with it and one without.
O2G_CHANNELS=tcp timeout 30 "$MPIEXEC" -n 1 -env O2G_ENCRYPT 1 "$prog" : \
	-n 1 "$prog" >"$TMP/out" 2>&1 && fail "they talk to each other"
expect "$TMP/out" 'encrypts? \(?.*all ranks need the same|does not encrypt and we do'

# --- new keys under way, over some hundred MiB ---
O2G_CHANNELS=tcp O2G_ENCRYPT=1 O2G_KTLS=0 O2G_ENCRYPT_REKEY=1M timeout 60 \
	"$MPIEXEC" -n 2 "$prog" 40 >"$TMP/out" 2>&1 ||
	{ cat "$TMP/out"; fail "with new keys"; }
expect "$TMP/out" 'all came right'

# --- the cable ---
netns_possible || skip "the rest needs network namespaces"
netns_pair || fail "no namespaces"
export NETNS_A NETNS_B

# seen ENCRYPT: what the cable of a job shows, in $TMP/cable
seen()
{
	local pid

	ip netns exec "$NETNS_A" "$BUILD/tests/system/capture" "va$$" \
		'are not for the cable' >"$TMP/cable" 2>&1 &
	pid=$!
	wait_for 5 grep -q ready "$TMP/cable" || fail "no capture"
	O2G_ENCRYPT=$1 timeout 60 tests/nets-mpiexec 4 "$prog" 2 >"$TMP/out" 2>&1 ||
		{ cat "$TMP/out"; kill $pid; fail "O2G_ENCRYPT=$1"; }
	expect "$TMP/out" 'all came right'
	kill -TERM $pid
	wait $pid || fail "the capture failed"
	cat "$TMP/cable"
}
seen 0
expect "$TMP/cable" 'plain [1-9][0-9]{3}'
seen 1
expect "$TMP/cable" 'streams [1-9][0-9]*, records [1-9][0-9]{2,}, sealed [1-9][0-9]{6}[0-9]*, plain 0, lost 0'

# --- what goes wrong ---
# A rank that is killed, and a host that is cut off.
for how in kill cut; do
	O2G_ENCRYPT=1 O2G_TCP_SILENCE=6 timeout 60 tests/nets-mpiexec 2 "$prog" 100000 \
		>"$TMP/out" 2>&1 &
	pid=$!
	linked()
	{
		[ "$(ip netns exec "$NETNS_B" ss -Htn state established | wc -l)" -ge 1 ]
	}
	wait_for 15 linked || fail "the ranks have not met"
	sleep 0.5
	if [ $how = kill ]; then
		for p in $(ip netns pids "$NETNS_B"); do
			[ "$(cat "/proc/$p/comm")" = encrypt_prog ] && kill -KILL "$p"
		done
	else
		ip -n "$NETNS_B" link set "vb$$" down
	fi
	wait $pid
	code=$?
	[ $code != 0 ] && [ $code != 124 ] ||
		{ tail -5 "$TMP/out"; fail "$how: exit code $code"; }
	expect "$TMP/out" 'rank 1 on|lost rank'
done
exit 0
