#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
# Every integer and handle constant has one value in C, mpif.h, mpi and mpi_f08;
# lengths of strings are one less in Fortran.
cd "$(dirname "$0")/../.." && . tests/lib.sh
mpifort=$PWD/$BUILD/bin/mpifort
mpicc=$PWD/$BUILD/bin/mpicc
[ -x "$mpifort" ] || { echo "no Fortran compiler"; exit 77; }
make_tmp
header=$PWD/$BUILD/include/mpi.h
cd "$TMP" || exit 1

grep -E '^#define MPI_' "$header" | grep -vE '^#define MPI_(T_|F_)' >defines
sed -nE 's/^#define (MPI_\w+) +\(?-?[0-9]+\)?$/\1/p' defines >ints
sed -nE 's/^#define (MPI_\w+) +\(\(MPI_Offset\)-?[0-9]+\)$/\1/p' defines >>ints
sed -nE 's/^#define (MPI_\w+) +\(\(MPI_[A-Z][a-z]+\)0x.*/\1/p' defines >handles
[ "$(cat ints handles | wc -l)" -gt 250 ] || fail "too few constants found"

{
	printf '#include <mpi.h>\n#include <stdio.h>\nint main(void)\n{\n'
	sed 's/.*/printf("& %lld\\n", (long long)&);/' ints
	sed 's/.*/printf("& %lld\\n", (long long)(intptr_t)&);/' handles
	printf 'return 0;\n}\n'
} >c.c
# program NAME USE INCLUDE MEMBER
program()
{
	echo "program p"
	[ -n "$1" ] && echo "  $1"
	echo "  implicit none"
	[ -n "$2" ] && echo "  $2"
	sed "s/.*/  print '(a,i0)', '& ', &/" ints
	sed "s/.*/  print '(a,i0)', '& ', &$3/" handles
	echo "end program"
}
program "" "include 'mpif.h'" "" >mpif.f90
program "use mpi" "" "" >mpi.f90
program "use mpi_f08" "" "%MPI_VAL" >f08.f90
"$mpicc" c.c -o c || fail "C"
./c | awk '{ print $1, $1 ~ /^MPI_MAX_/ ? $2 - 1 : $2 }' >c.out
for style in mpif mpi f08; do
	"$mpifort" -w $style.f90 -o $style || fail "$style does not compile"
	./$style >$style.out || fail "$style does not run"
	diff c.out $style.out || fail "C (<) and $style (>) differ"
done

# mpif.h is for both source forms.
printf '      program p\n      implicit none\n      include "mpif.h"\n      end\n' >fixed.f
"$mpifort" -Wall -Werror -Wno-unused -std=f2008 fixed.f -o fixed ||
	fail "mpif.h in fixed form"
exit 0
