#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
# The systemd unit: systemd understands it, and what it starts, reloads and stops
# does that. Where systemd is not in charge of the machine it cannot be enabled, so
# its lines are run here by hand.
cd "$(dirname "$0")/../.." && . tests/lib.sh
need_root
make_tmp
unit=$TMP/o2g-bpf@.service
sed "s|@PREFIX@|$PWD/$BUILD|" tools/o2g-bpf@.service.in >"$unit"
if command -v systemd-analyze >/dev/null; then
	# It ends with 0 for a key that it does not know; it says so, though.
	systemd-analyze verify --man=no "$unit" >"$TMP/said" 2>&1 ||
		{ cat "$TMP/said"; fail "systemd-analyze verify"; }
	expect_not "$TMP/said" 'o2g-bpf@'
fi

export O2G_BPF_DIR=$TMP/seats
mkdir "$O2G_BPF_DIR"
at_exit()
{
	"$O2G" bpf unload >/dev/null 2>&1
}

# line KEY: runs the unit's line of that name for the group root.
line()
{
	local command

	command=$(sed -n "s/^$1=//p" "$unit")
	[ -n "$command" ] || fail "the unit has no $1"
	${command//%i/root} >"$TMP/out" 2>&1
}

line ExecStart || skip "$(tail -n 1 "$TMP/out")"
expect "$TMP/out" '^user root: 16 seats made, 16 in all'
line ExecReload || fail "ExecReload"
expect "$TMP/out" '^user root: 0 seats made, 16 in all'
O2G_STATS=1 O2G_CHANNELS=bpf timeout 30 "$MPIEXEC" -n 2 "$MPI_TESTS/pt2pt" \
	>"$TMP/job" 2>&1 || { cat "$TMP/job"; fail "a job"; }
expect "$TMP/job" '^ +0 +1 +bpf '
line ExecStop || fail "ExecStop"
"$O2G" bpf status >"$TMP/out"
expect "$TMP/out" '^nothing is loaded'
exit 0
