#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
# Instructions of the whole machine for a message from one kernel module to another, by
# o2g_kernel.h and by sockets of their own.
. lab/tests/guest.inc
need_driver
COST=$BUILD/lab/$LAB_KERNEL/kapi/o2g_kapi_cost.ko
MESSAGES=1000

# cost WAY BYTES PARAMETER...
cost()
{
	local way=$1 size=$2

	shift 2
	rm -f "/run/lab/count"
	insmod "$COST" messages=$MESSAGES size=$size "$@" || fail "$way: it does not load"
	rmmod o2g_kapi_cost || fail "$way: it does not unload"
	awk -v way="$way" -v size=$size -v n=$MESSAGES '{
		printf "{\"way\": \"%s\", \"bytes\": %d, \"programs\": %.0f, \"kernel\": %.0f}\n",
		       way, size, $2 / n, $4 / n
	}' "/run/lab/count"
}

for size in 8 4096; do
	cost "sockets" $size bare=1
	echo N >/sys/module/o2g/parameters/direct
	cost "o2g over TCP" $size
	echo Y >/sys/module/o2g/parameters/direct
	cost "o2g by the link" $size
done
