#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
# needs: debug
# expect: BUG: sleeping function called from invalid context
# Sleeping with a lock held is found.
. lab/tests/guest.inc

insmod "$HELLO" fault=sleep && rmmod o2g_lab_hello
