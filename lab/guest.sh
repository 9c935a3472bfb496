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

# The machines of a pair know each other as a and b; see lab/vm.
if [ "$LAB_GUEST" = a ] || [ "$LAB_GUEST" = b ]; then
	modprobe virtio_net 2>/dev/null
	[ "$LAB_GUEST" = a ] && n=1 || n=2
	for card in /sys/class/net/eth*; do
		card=${card##*/}
		case $(cat "/sys/class/net/$card/address") in
		52:54:00:77:*) net=77 ;;
		*) net=78 ;;
		esac
		ip link set "$card" up
		ip addr add "10.$net.0.$n/24" dev "$card"
		ip addr add "fd$net::$n/64" dev "$card" nodad
	done
	printf '127.0.0.1 localhost\n10.77.0.1 a\n10.77.0.2 b\n' >/etc/hosts
	printf '10.78.0.1 a-control\n10.78.0.2 b-control\n' >>/etc/hosts
fi
