#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
# needs: debug
# expect: BUG: KASAN: .*use-after-free
# A look at freed memory is found.
. lab/tests/guest.inc

insmod "$HELLO" fault=freed && rmmod o2g_lab_hello
