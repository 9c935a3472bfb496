#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
# timeout: 150
# A cable out for three seconds delays a job, and does not end it.
. lab/tests/guest.inc
need_pair

cut_for 3
