#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
# expect: WARNING: .*o2g_lab_hello
# A warning of the kernel is found, in a test that is fine otherwise.
. lab/tests/guest.inc

insmod "$HELLO" fault=warn && rmmod o2g_lab_hello
