#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
# Instructions of the whole machine for a message of 8 B. On the kernel engine the
# ranks of one host do not use TCP; "o2g-kernel-tcp" does.
. lab/shows/mpis.inc
need_driver
MPIS=${FUZZ_MPIS:-${MPIS/o2g-kernel/o2g-kernel o2g-kernel-tcp}}

for way in ${*:-posted late stream pingpong}; do
	for mpi in $MPIS; do
		report "$mpi" 100 start_on "$mpi" 2 \
			"$PWD/$BUILD/lab/show/$(folder_of "$mpi")/messages" "$way" 600
	done
done
