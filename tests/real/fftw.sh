#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
# FFTW's transforms over MPI, which live by alltoall and by pairs that exchange
# pieces, and its own check: transforms of random shapes against what linearity,
# shifts and impulses must give.
cd "$(dirname "$0")/../.." && . tests/real/lib.sh
make_tmp
command -v perl >/dev/null || skip "needs perl: apt-get install perl"
fetch_source fftw3 sid trixie bookworm
obj=$REAL/fftw
mkdir -p "$obj"
(cd "$obj" && if [ ! -e Makefile ]; then "$REAL/fftw3/configure" --enable-mpi \
	--disable-fortran --disable-shared CFLAGS="-O1 -w" MPICC="$MPICC"; fi &&
	make -j2 && rm -f mpi/mpi-bench && make) >"$TMP/out" 2>"$TMP/err"
check "builds with our mpicc" || summary

# shapes RANKS: ten random ones, in many kinds each.
shapes()
{
	timeout 300 perl -w "$REAL/fftw3/tests/check.pl" --verbose --random \
		--maxsize=4000 -c=10 --mpi "$MPIEXEC -n $1 $obj/mpi/mpi-bench" \
		>"$TMP/out" 2>"$TMP/err" </dev/null &&
		[ "$(grep -c 'e-[0-9]* .*e-[0-9]*$' "$TMP/out")" -ge 20 ]
	judge $? "$1 ranks$2: $(grep -c 'e-[0-9]* .*e-[0-9]*$' "$TMP/out") transforms"
}
for n in 1 2 3 4; do
	shapes $n
done
O2G_CHANNELS=tcp shapes 3 " over tcp"
summary
