#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
# How much of a message hides behind computing, over a cable that is the limit.
. lab/shows/mpis.inc
need_driver

# One short message takes as long as the turns that two ranks take on a processor:
# so 1 MiB of them is under way.
cable 100
for mpi in $MPIS; do
	perf=$PWD/$BUILD/bench/$(folder_of "$mpi")/perf
	report "$mpi" 500 start_on "$mpi" 2 "$perf" overlap \
		--sizes 64k,256k,1M --least 1048576 --reps 5 --rep-ms 1 \
		--work 150 --json
	report "$mpi" 500 start_on "$mpi" 2 "$perf" overlap \
		--sizes "${1:-4M,16M}" --reps 1 --rep-ms 1 --work 150 --json
done
