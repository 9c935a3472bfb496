#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
# timeout: 150
# Two endpoints of kernel modules on one host: every kind of memory, of every length, put
# and get, callbacks that send, cancelling, a peer that goes and comes back; by the link
# and over TCP.
. lab/tests/guest.inc
. lab/tests/kapi.inc
need_kapi

kapi "by the link"
kapi_direct N
kapi "over TCP"
kapi "over IPv6" address=::1 tests=echo most=100000
kapi_direct Y
