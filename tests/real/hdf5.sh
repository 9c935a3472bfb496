#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
# HDF5's own tests of its parallel side (testpar), which write and read files by
# MPI_File_*_at and *_at_all, through filetypes that HDF5 makes of selections. A
# program counts as passed if it says so and exits with 0; the line shows how many
# tests it named. Arguments name programs; otherwise all that end within minutes.
cd "$(dirname "$0")/../.." && . tests/real/lib.sh
make_tmp
fetch_source hdf5 trixie sid bookworm
obj=$REAL/hdf5-build
files=${HDF5_FILES:-$TMP}
mkdir -p "$obj"
(cd "$obj" && if [ ! -e Makefile ]; then "$REAL/hdf5/configure" \
	--enable-parallel --disable-fortran --disable-hl --disable-tools \
	--disable-shared CC="$MPICC" CFLAGS="-O1 -w"; fi &&
	make -j2 -C src && make -j2 -C test libh5test.la &&
	find testpar -type f -perm -100 ! -name '*.sh' -delete &&
	make -j2 -C testpar build-tests) >"$TMP/out" 2>"$TMP/err"
check "builds with our mpicc" || summary

# run RANKS NAME
run()
{
	(cd "$files" && HDF5_ALARM_SECONDS=1500 timeout 1600 "$MPIEXEC" -n "$1" \
		"$obj/testpar/$2") >"$TMP/out" 2>"$TMP/err" </dev/null
}

# program RANKS NAME [WORDS]
program()
{
	run "$1" "$2" && ! grep -qE '\*FAILED\*|Parallel ERROR' "$TMP"/{out,err}
	judge $? "$2 on $1 ranks$3: $(grep -ciE '^ *testing|^Proc 0: \*\*\* ' \
		"$TMP/out") tests"
}

# One writes and ends in its own way: the first without MPI_Finalize, which is an
# error, the second before the file is closed. Another reads what is there.
pairs()
{
	run 4 t_pflush1
	program 4 t_pflush2 " after t_pflush1"
	program 4 t_pshutdown && program 4 t_prestart " after t_pshutdown"
}

programs="t_mpi testphdf5 t_cache t_cache_image t_pread t_init_term
	t_pmulti_dset t_select_io_dset t_shapesame t_filters_parallel t_vfd t_bigio"
for p in ${*:-$programs}; do
	program 4 "$p"
	rm -f "$files"/*.h5*
done
if [ $# = 0 ]; then
	pairs
	program 3 testphdf5
	program 6 testphdf5
	O2G_CHANNELS=tcp program 4 testphdf5 " over tcp"
fi
summary
