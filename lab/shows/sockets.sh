#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
# Instructions for a message with ever more registered sockets.
. lab/shows/mpis.inc
need_driver

echo N >/sys/module/o2g/parameters/direct # both ends are of this host

"$BUILD/lab/show/sockets" 4000 1 10 100 1000
