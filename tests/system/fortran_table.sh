#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
# timeout: 120
# The generators handle every row of the table, also those that the library does
# not have yet: what they would make compiles without a warning.
cd "$(dirname "$0")/../.." && . tests/lib.sh
[ -x "$BUILD/bin/mpifort" ] || { echo "no Fortran compiler"; exit 77; }
make_tmp
cp -r mpi/bindings "$TMP/bindings"
sed -i 's/\tlater\t/\tyes\t/' "$TMP/bindings/functions.tsv"
mkdir "$TMP/include"
python3 -B "$TMP/bindings/mpi_h.py" "$TMP/include/mpi.h" || fail "mpi.h"
python3 -B "$TMP/bindings/fortran_c.py" "$TMP/gen" || fail "fortran_c.py"
python3 -B "$TMP/bindings/fortran_mod.py" "$TMP/gen" || fail "fortran_mod.py"

cfi=$(dirname "$(gfortran -print-file-name=include/ISO_Fortran_binding.h)")
cat "$TMP"/gen/chapter_*.c >"$TMP/all.c"
cc -std=gnu11 -Wall -Wextra -Wno-unused-parameter -Wmissing-prototypes -Werror \
	-fsyntax-only -I"$TMP/include" -Iinclude -Impi -Impi/fortran \
	-idirafter "$cfi" "$TMP/all.c" || fail "the C code"
for m in mpi_f08_types mpi_f08 mpi; do
	gfortran -Wall -Wno-c-binding-type -Werror -ffree-line-length-none \
		-J"$TMP/gen" -c "$TMP/gen/$m.f90" -o "$TMP/gen/$m.o" ||
		fail "the module $m"
done
exit 0
