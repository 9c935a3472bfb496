#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
# timeout: 120
# Who pays for what the driver holds: an endpoint in a small memory cgroup that its peer
# floods, and the limits of a user.
. lab/tests/guest.inc
need_driver

"$BUILD/tests/driver/device_cgroup" || fail "not all cases passed"
