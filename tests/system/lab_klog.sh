#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
# lab/klog finds every kind of report, and none in a log without.
cd "$(dirname "$0")/../.." && . tests/lib.sh
make_tmp

# One line of each kind, as kernels print them.
cat >"$TMP/reports" <<'END'
[    6.551141] WARNING: CPU: 1 PID: 125 at net/core/sock.c:39 sk_free+0x38/0x1000
[   96.227579] WARNING: sock.c:50 at sk_free+0x34/0xff0 [o2g], CPU#0: insmod/223
[    8.924991] kernel BUG at mm/slub.c:41!
[    1.000000] BUG: kernel NULL pointer dereference, address: 0000000000000008
[    1.000000] BUG: unable to handle page fault for address: ffffffffc0303000
[    1.000000] BUG: KASAN: use-after-free in o2g_rx+0x1/0x2 [o2g]
[    1.000000] BUG: KASAN: slab-out-of-bounds in o2g_rx+0x1/0x2 [o2g]
[    1.000000] BUG: KFENCE: out-of-bounds read in o2g_rx+0x1/0x2
[    1.000000] BUG: sleeping function called from invalid context at mm/slab.h:1
[    1.000000] BUG: scheduling while atomic: insmod/1/0x00000002
[    1.000000] BUG: workqueue leaked lock or atomic: kworker/0:1/0x00000001/9
[    1.000000] BUG: Bad page state in process insmod  pfn:00001
[    1.000000] Oops: 0000 [#1] PREEMPT SMP NOPTI
[    1.000000] general protection fault, probably for non-canonical address 0x1
[    1.000000] WARNING: possible circular locking dependency detected
[    1.000000] WARNING: possible recursive locking detected
[    1.000000] WARNING: inconsistent lock state
[    1.000000] WARNING: suspicious RCU usage
[    1.000000] WARNING: bad unlock balance detected!
[    1.000000] WARNING: lock held when returning to user space!
[    1.000000] UBSAN: array-index-out-of-bounds in core/match.c:1:2
[    1.000000] UBSAN: shift-out-of-bounds in core/match.c:1:2
[    1.000000] kmemleak: 3 new suspected memory leaks (see /sys/kernel/debug/kmemleak)
unreferenced object 0xffff888001234000 (size 777):
[    1.000000] INFO: task insmod:125 blocked for more than 30 seconds.
[    1.000000] rcu: INFO: rcu_preempt detected stalls on CPUs/tasks:
[    1.000000] watchdog: BUG: soft lockup - CPU#0 stuck for 22s! [insmod:125]
[    1.000000] list_add corruption. prev->next should be next (1), but was 2.
[    1.000000] refcount_t: underflow; use-after-free.
[    1.000000] ODEBUG: free active (active state 0) object type: work_struct
[    1.000000] unregister_netdevice: waiting for lo to become free. Usage count = 2
[    1.000000] BUG o2g_req (Tainted: G           OE     ): Objects remaining in o2g_req
[    1.000000] BUG kmalloc-64 (Tainted: G           OE     ): Poison overwritten
[    1.000000] Kernel panic - not syncing: Fatal exception
[    1.000000] insmod: page allocation failure: order:9, mode:0xcc0(GFP_KERNEL)
END
while read -r line; do
	echo "$line" >"$TMP/one"
	lab/klog "$TMP/one" >"$TMP/out" && fail "not found: $line"
	grep -qF -- "$line" "$TMP/out" || fail "not shown: $line"
done <"$TMP/reports"

cat >"$TMP/healthy" <<'END'
[    0.000000] Command line: console=ttyS0 panic=-1 oops=panic mitigations=off
[    0.000000] Kernel command line: console=ttyS0 panic=-1 oops=panic
[    0.010000] kasan: KernelAddressSanitizer initialized
[    0.500000] kmemleak: Kernel memory leak detector initialized (mem pool available: 38000)
[    0.600000] debug: unmapping init [mem 0xffffffff82c00000-0xffffffff82ffffff]
[    2.000000] o2g: loading out-of-tree module taints kernel.
[    2.000000] o2g: module verification failed: signature and/or required key missing
[    2.352409] ima: No architecture policies found
END
lab/klog "$TMP/healthy" || fail "a healthy log is not"
