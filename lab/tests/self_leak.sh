# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
# needs: debug
# expect: unreferenced object 0x
# Memory that a module has lost is found.
. lab/tests/guest.inc

insmod "$HELLO" fault=leak && rmmod o2g_lab_hello
# kmemleak leaves alone what is younger than five seconds.
sleep 6
