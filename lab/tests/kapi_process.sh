#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
# timeout: 150
# slow: processes are started again and again
# A kernel module and a process with libo2g are peers: by the link and over TCP, the
# process with its engine on the driver or in user space; either may listen. The process
# is killed in the middle of a message.
. lab/tests/guest.inc
. lab/tests/kapi.inc
need_kapi
export O2G_CHANNELS=tcp O2G_TCP_INTERFACES=lo

serve_and_call()
{
	kapi_start /tmp/port "$PEER" serve
	kapi "$1" role=call process=1 port=$(cat /tmp/port)
}

serve_and_call "by the link"
kapi_direct N
serve_and_call "over TCP"
O2G_ENGINE=user serve_and_call "with an engine in user space"
kapi_direct Y

kapi_mark
insmod "$KAPI" role=serve "$KAPI_USER" || fail "the module does not serve"
port=$(kapi_log | sed -n 's/.*o2g_kapi: port //p')
for engine in kernel user; do
	O2G_ENGINE=$engine timeout 60 "$PEER" call "$port" ||
		fail "a process with the $engine engine does not reach the module"
done
rmmod o2g_kapi || fail "the module does not unload"
