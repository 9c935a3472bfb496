#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
# PARPACK: eigenvalues of large matrices, in Fortran 77 with mpif.h, and its
# examples, which find the eigenvalues of operators that are known.
cd "$(dirname "$0")/../.." && . tests/real/lib.sh
make_tmp
mpifort=$PWD/$BUILD/bin/mpifort
[ -x "$mpifort" ] || skip "built without a Fortran compiler"
echo 'int main(void) { return 0; }' >"$TMP/t.c"
cc "$TMP/t.c" -llapack -lblas -o "$TMP/t" 2>/dev/null ||
	skip "needs LAPACK: apt-get install liblapack-dev"
fetch_source arpack sid trixie bookworm
src=$REAL/arpack
obj=$REAL/parpack
rm -rf "$obj" && mkdir -p "$obj"

# Some names are in several folders: those of PARPACK come first.
(cd "$obj" && for f in "$src"/PARPACK/SRC/MPI/*.f "$src"/PARPACK/UTIL/MPI/*.f \
	"$src"/SRC/*.f "$src"/UTIL/*.f; do
	[ -e "$(basename "$f" .f).o" ] && continue
	"$mpifort" -O1 -w -I"$src" -I"$src/PARPACK/SRC/MPI" -c "$f" || exit 1
done && ar r libparpack.a *.o) >"$TMP/out" 2>"$TMP/err"
check "the library builds with our mpifort" || summary

# example NAME RANKS: it must print the residuals of what it has found, all of
# them small.
example()
{
	local name=$1 n=$2 f=$src/PARPACK/EXAMPLES/MPI/$1.f

	"$mpifort" -O1 -w -I"$src" -I"$src/PARPACK/SRC/MPI" -o "$obj/$name" "$f" \
		"$obj/libparpack.a" -llapack -lblas >"$TMP/out" 2>"$TMP/err" &&
		(cd "$TMP" && timeout 120 "$MPIEXEC" -n "$n" "$obj/$name") \
			>"$TMP/out" 2>"$TMP/err" </dev/null &&
		awk '/Row +[0-9]+:/ { n++; sub("D", "E", $NF);
				if ($NF + 0 > 1e-3) bad = 1 }
			END { exit n < 2 || bad }' "$TMP/out"
	judge $? "$name on $n ranks: $(grep -c 'Row  *[0-9]*:' "$TMP/out") eigenvalues"
}
for name in pdsdrv1 pdndrv1 psndrv1 pssdrv1 pcndrv1 pzndrv1 pdndrv3 pdsdrv3; do
	[ -e "$src/PARPACK/EXAMPLES/MPI/$name.f" ] || continue
	example $name 1
	example $name 4
done
summary
