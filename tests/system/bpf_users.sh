#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
# Ordinary users receive through the program, each from seats of their own, and
# fall back to tcp, with a reason, where they have none.
cd "$(dirname "$0")/../.." && . tests/lib.sh
make_tmp
chmod 755 "$TMP"
bpf_load 4 --user 4711 >"$TMP/load" || skip "$(tail -n 1 "$TMP/load")"
expect "$TMP/load" '^user 4711: 4 seats made'

# as UID COMMAND...: without any privilege.
as()
{
	local uid=$1

	shift
	setpriv --reuid "$uid" --regid "$uid" --clear-groups --no-new-privs \
		--bounding-set=-all --inh-caps=-all "$@"
}

# The programs may be where only root can go.
cp -r "$BUILD/bin" "$BUILD/lib" "$TMP"
cp "$BUILD/tests/mpi/pt2pt" "$TMP"
export LD_LIBRARY_PATH=$TMP/lib
cd "$TMP" || exit 1

# job UID: does it work, and over what?
job()
{
	O2G_STATS=1 O2G_CHANNELS=bpf timeout 30 \
		setpriv --reuid "$1" --regid "$1" --clear-groups --no-new-privs \
		bin/mpiexec -n 2 ./pt2pt >"$TMP/job" 2>&1 ||
		{ cat "$TMP/job"; fail "user $1"; }
}

job 4711
expect "$TMP/job" '^ +0 +1 +bpf '
as 4711 bin/o2g bpf status >status
expect status '^user 4711 .*: 4 seats, 0 taken'

# Another user: no seat of its own, and no way to that of others.
job 4712
expect "$TMP/job" '^ +0 +1 +tcp '
O2G_CHANNELS=bpf as 4712 bin/o2g info >info
expect info 'bpf +not usable: no seat for user 4712'
expect info 'tcp +usable'
as 4712 bin/o2g bpf status >status
expect status '^user 4711 .*may not look into'
for f in socks bell seat; do
	[ "$(stat -c '%u %a' "$BPF_DIR/4711/0/$f")" = "4711 600" ] ||
		fail "$f: $(stat -c '%u %a' "$BPF_DIR/4711/0/$f")"
done

# Loading and unloading are for root, and say so.
as 4712 bin/o2g bpf load >out 2>&1 && fail "anybody can load"
expect out 'o2g bpf: .*(Operation not permitted|Permission denied)'
as 4712 bin/o2g bpf unload --user 4711 >out 2>&1
[ -e "$BPF_DIR/4711/0/seat" ] || fail "anybody can unload"

# Mistakes.
bin/o2g bpf load --seats 0 2>out && fail "no seats"
expect out 'seats is "0", but a number'
bin/o2g bpf load --group nosuchgroup 2>out && fail "no such group"
expect out 'there is no group "nosuchgroup"'
bin/o2g bpf lood 2>out && fail "no such word"
expect out '^usage'

# More seats for whom has some, and all of them gone again.
bin/o2g bpf load --user 4711 --seats 6 >out || fail "load again"
expect out '^user 4711: 2 seats made, 6 in all'
bin/o2g bpf unload

# One seat for two ranks: one has it, the other is without, and they talk.
bin/o2g bpf load --user 4711 --seats 1 >out || fail "one seat"
job 4711
expect "$TMP/job" '^ +(0 +1|1 +0) +bpf '
expect "$TMP/job" '^ +(0 +1|1 +0) +tcp '
bin/o2g bpf unload
mountpoint -q "$BPF_DIR" && fail "still mounted"
bin/o2g bpf status >status
expect status 'nothing is loaded'
exit 0
