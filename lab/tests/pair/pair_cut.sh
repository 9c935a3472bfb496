#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
# timeout: 150
# slow: it takes 30 seconds to tell a cut from a pause
# A cable that stays out is an error that names the other side, not a hang.
. lab/tests/guest.inc
need_pair
cut_cable
