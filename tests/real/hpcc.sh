#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
# The HPC Challenge: HPL, PTRANS, RandomAccess, FFT and the ring and ping-pong
# patterns, each of which checks its own result.
cd "$(dirname "$0")/../.." && . tests/real/lib.sh
make_tmp
echo 'int main(void) { return 0; }' >"$TMP/t.c"
cc "$TMP/t.c" -lblas -o "$TMP/t" 2>/dev/null ||
	skip "needs a BLAS: apt-get install libblas-dev"
fetch_source hpcc bookworm trixie sid
hpl=$REAL/hpcc/hpl

# One of its own descriptions of a machine, with our compiler and that BLAS.
sed -e 's|^LAlib .*|LAlib = -lblas|' -e 's|^\(MP[a-z]*\) .*|\1 =|' \
	-e "s|^CC  .*|CC = $MPICC|" -e "s|^LINKER .*|LINKER = $MPICC|" \
	-e 's|^CCFLAGS .*|CCFLAGS = $(HPL_DEFS) -O2 -w|' \
	-e 's|^LINKFLAGS .*|LINKFLAGS = -lm|' \
	-e 's|^F2CDEFS.*|F2CDEFS = -DAdd_ -DF77_INTEGER=int -DStringSunStyle|' \
	"$hpl/setup/Make.Linux_ATHLON_FBLAS" >"$hpl/Make.o2g"
rm -f "$REAL/hpcc/hpcc"
make -j2 -C "$REAL/hpcc" arch=o2g >"$TMP/out" 2>"$TMP/err"
check "builds with our mpicc"

# run WORDS: four ranks in a grid of 2 x 2.
run()
{
	rm -rf "$TMP/run" && mkdir "$TMP/run"
	sed '/ Ns$/s/^1000/400/' "$REAL/hpcc/_hpccinf.txt" >"$TMP/run/hpccinf.txt"
	(cd "$TMP/run" && timeout 300 "$MPIEXEC" -n 4 "$REAL/hpcc/hpcc") \
		>"$TMP/out" 2>"$TMP/err" </dev/null
	check "$1: runs to its end"
	cp "$TMP/run/hpccoutf.txt" "$TMP/out" 2>/dev/null
	grep -q '^Success=1' "$TMP/out"
	check "$1: says Success=1"
	grep -q '^ *1 tests completed and passed residual checks' "$TMP/out" &&
		! grep -q FAILED "$TMP/out"
	check "$1: HPL's residual is small"
	[ "$(grep -c 'Found 0 errors in .* (passed)' "$TMP/out")" = 4 ]
	check "$1: RandomAccess finds no error"
	grep -q '^ *5 tests completed and passed residual checks' "$TMP/out"
	check "$1: PTRANS' five residuals are small"
}
run shm
O2G_CHANNELS=tcp run tcp
summary
