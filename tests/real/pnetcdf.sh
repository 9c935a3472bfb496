#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
# PnetCDF and its own parallel tests (make ptest), in C, C++ and Fortran, on four
# ranks and, where its rules say so, others. Each test prints "pass" or what is
# wrong; its tools check the files that were written. PNETCDF=ptests runs them on
# 2 to 10 ranks.
cd "$(dirname "$0")/../.." && . tests/real/lib.sh
make_tmp
command -v autoreconf >/dev/null && command -v libtoolize >/dev/null &&
	command -v m4 >/dev/null ||
	skip "needs autoconf, automake, libtool and m4"
fetch_source pnetcdf bookworm trixie sid
obj=$REAL/pnetcdf-build
bin=$(dirname "$MPICC")
mkdir -p "$obj"
([ -e "$REAL/pnetcdf/configure" ] || (cd "$REAL/pnetcdf" && autoreconf -i)) \
	>"$TMP/out" 2>"$TMP/err"
check "has a configure" || summary
(cd "$obj" && if [ ! -e Makefile ]; then "$REAL/pnetcdf/configure" \
	--enable-subfiling --enable-burst-buffering --enable-thread-safe \
	MPICC="$bin/mpicc" MPICXX="$bin/mpicxx" MPIF77="$bin/mpifort" \
	MPIF90="$bin/mpifort" CFLAGS="-O1 -w" FFLAGS=-w FCFLAGS=-w; fi &&
	make -j2) >"$TMP/out" 2>"$TMP/err"
check "builds with our mpicc" || summary

make -C "$obj" -k "${PNETCDF:-ptest}" TESTMPIRUN="$MPIEXEC -n NP" \
	TESTOUTDIR="$TMP" >"$REAL/pnetcdf.log" 2>&1 </dev/null
status=$?
good=$(grep -acE -- '-+ (.\[32m)?pass' "$REAL/pnetcdf.log")
grep -aE -- '\*\*\* TESTING' "$REAL/pnetcdf.log" |
	grep -avE -- '-+ (.\[32m)?(pass|skip)' >"$TMP/out"
passed=$((passed + good))
[ $status = 0 ] && [ ! -s "$TMP/out" ] && [ "$good" -gt 100 ]
check "its parallel tests; the output is in $REAL/pnetcdf.log"
summary
