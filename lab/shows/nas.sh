# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
# The NAS kernels: nas.sh RANKS CLASS [KERNEL...].
. lab/shows/mpis.inc
need_driver

np=$1 class=$2
shift 2
for kernel in ${*:-is ep cg mg ft}; do
	for mpi in $MPIS; do
		report "$mpi" 60 start_on "$mpi" "$np" \
			"$PWD/$BUILD/bench/$(folder_of "$mpi")/nas/$kernel" "$class" --json
	done
done
