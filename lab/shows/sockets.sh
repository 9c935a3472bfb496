# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
# Instructions for a message with ever more registered sockets.
. lab/shows/mpis.inc
need_driver

"$BUILD/lab/show/sockets" 4000 1 10 100 1000
