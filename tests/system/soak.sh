#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
# timeout: 90
# Messages of random sizes, ranks killed at random, every byte checked, over each
# channel. SOAK=600 makes it ten minutes a channel (with tests/run's limit out of
# the way: bash tests/system/soak.sh), SOAK_CHANNELS=bpf chooses.
cd "$(dirname "$0")/../.." && . tests/lib.sh
make_tmp
bpf_load 16 >/dev/null && bpf=bpf

# What nobody wants to read in the kernel's log.
klog()
{
	dmesg 2>/dev/null | grep -cE 'BUG:|WARNING:|Oops|refcount_t|general protection fault,|RCU detected'
}

before=$(klog)
for channel in ${SOAK_CHANNELS:-shm tcp $bpf}; do
	echo "$channel:"
	# Some connections of bpf get their second socket, and some do not.
	# What ranks say about those that were killed matters only if it fails.
	O2G_BPF_SPLIT=${O2G_BPF_SPLIT:-20} \
	O2G_CHANNELS=$channel O2G_LOG=debug "$BUILD/tests/system/soak" \
		"${SOAK:-4}" "${SOAK_RANKS:-4}" ${SOAK_SEED:-} 2>"$TMP/said" || {
		tail -n 60 "$TMP/said"
		fail "$channel"
	}
done
[ "$(klog)" = "$before" ] || { dmesg | tail -n 60; fail "the kernel complains"; }
exit 0
