#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
# timeout: 120
# What a program does with a socket that it has handed to the driver: listen,
# disconnect, another protocol, bytes of its own. The last case unloads the driver.
. lab/tests/guest.inc
need_driver

modprobe tls 2>/dev/null
"$BUILD/tests/driver/device_sock" || fail "not all cases passed"
load_driver || fail "it does not load again"
