#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
# System calls to receive a message of 8 B, with a receive posted and polled for when
# the message has come: what waiting takes is not in it.
. lab/shows/mpis.inc
need_driver

for mpi in $MPIS; do
	report "$mpi" 100 start_on "$mpi" 2 \
		"$PWD/$BUILD/bench/$(folder_of "$mpi")/perf" calls --poll 1 --late 1 --messages 100 --json
done
