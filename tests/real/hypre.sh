#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
# hypre: multigrid solvers for sparse systems, with exchanges among neighbours
# that are found out at run time. Its drivers solve Laplace's equation.
cd "$(dirname "$0")/../.." && . tests/real/lib.sh
make_tmp
fetch_source hypre bookworm trixie sid
src=$REAL/hypre/src
(cd "$src" && if [ ! -e config/Makefile.config ]; then ./configure CC="$MPICC" \
	CXX="$(dirname "$MPICC")/mpicxx" CFLAGS="-O1 -w" --disable-fortran; fi &&
	make -j2 && cd test && rm -f ij struct && make ij struct) \
	>"$TMP/out" 2>"$TMP/err"
check "builds with our mpicc" || summary

# solve RANKS DRIVER OPTIONS: it must converge within few iterations.
solve()
{
	local n=$1 driver=$2

	shift 2
	timeout 120 "$MPIEXEC" -n "$n" "$src/test/$driver" "$@" >"$TMP/out" \
		2>"$TMP/err" </dev/null &&
		awk '/Iterations = / { n = $NF } /^Final .*Relative/ { r = $NF }
			END { exit !(n > 0 && n < 30 && r < 1e-6) }' "$TMP/out"
	judge $? "$driver $* on $n ranks: $(sed -n 's/.*Iterations = //p' \
		"$TMP/out") iterations"
}
for n in 1 2 5; do
	solve $n ij -solver 1 -n 30 30 30
done
solve 8 ij -solver 1 -n 30 30 30 -P 2 2 2
solve 4 ij -solver 61 -n 20 20 20
solve 4 struct -solver 10 -n 10 10 10 -P 2 2 1
solve 4 struct -solver 0 -n 10 10 10 -P 1 2 2
O2G_CHANNELS=tcp solve 8 ij -solver 1 -n 30 30 30 -P 2 2 2
summary
