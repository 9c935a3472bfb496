# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
#
# Sourced in every guest before its command: how the machine is set up.

# Receives are pinned, programs lock memory.
ulimit -l unlimited
ulimit -c 0
# A task that cannot be ended is a bug of ours, and found while the test waits.
echo 30 >/proc/sys/kernel/hung_task_timeout_secs 2>/dev/null
echo 1 >/proc/sys/kernel/panic_on_oops
echo 8 >/proc/sys/kernel/printk
