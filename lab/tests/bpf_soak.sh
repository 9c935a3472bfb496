#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
# timeout: 120
# slow: software emulation; it needs no module, so it runs natively as well
# The bpf channel on this kernel: the trial, some messages, and a short soak. The
# kernel log is searched afterwards.
. lab/tests/guest.inc

ip link set lo up
"$O2G" bpf load --seats 4 >/tmp/load 2>&1 || {
	grep -Eq 'known to lose data|CONFIG_DEBUG_INFO_BTF' /tmp/load &&
		skip "$(cat /tmp/load)"
	cat /tmp/load
	fail "it does not load"
}
O2G_STATS=1 O2G_CHANNELS=bpf timeout 60 "$MPIEXEC" -n 2 "$MPI_TESTS/pt2pt" \
	>/tmp/out 2>&1 || { cat /tmp/out; fail "pt2pt"; }
expect /tmp/out '^ +0 +1 +bpf '
# Some connections get their second socket, and some do not.
O2G_BPF_SPLIT=20 O2G_CHANNELS=bpf O2G_LOG=error timeout 60 \
	"$BUILD/tests/system/soak" 8 3 ||
	fail "the soak"
"$O2G" bpf unload
