#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
# timeout: 150
# slow: it takes 30 seconds to tell a cut from a pause
# The driver in two machines, and a cable that stays out: an error that names the
# other side, not a hang, and both drivers can be unloaded.
. lab/tests/guest.inc
need_pair_driver
cut_cable
lab/wire join
