#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
# mpi.h and libmpi.so agree: every function that is declared exists, as a
# strong PMPI_ name and a weak MPI_ name; nothing else is exported; the header
# is C and C++.
cd "$(dirname "$0")/../.." && . tests/lib.sh
make_tmp
lib=$BUILD/lib/libmpi.so

# Prototypes may go over several lines; a name is what comes before the "(".
grep -Eo '^[a-zA-Z_]+ P?MPI_[A-Za-z_0-9]+\(' "$BUILD/include/mpi.h" |
	sed 's/.* //; s/(//' | sort >"$TMP/declared"
nm -D --defined-only "$lib" | awk '{ print $3, $2 }' | sort >"$TMP/exported"
# Besides: what mpi/fortran/ needs (lang.h), and MPI_F_STATUS_IGNORE.
cut -d' ' -f1 "$TMP/exported" | sed 's/@.*//' | grep -v '^LIB' |
	grep -v '^o2g_mpi_' | grep -v '^MPI_F.*_IGNORE$' |
	sort >"$TMP/names"

comm -23 "$TMP/declared" "$TMP/names" >"$TMP/missing"
[ -s "$TMP/missing" ] && { cat "$TMP/missing"; fail "declared, but not there"; }
comm -13 "$TMP/declared" "$TMP/names" >"$TMP/more"
[ -s "$TMP/more" ] && { cat "$TMP/more"; fail "exported, but not declared"; }
grep '^MPI_' "$TMP/exported" | grep -v '^MPI_F.*_IGNORE' | grep -v ' W$' && fail "MPI_ names must be weak"
grep '^PMPI_' "$TMP/exported" | grep -v ' T$' && fail "PMPI_ names are strong"
sed -n 's/^P\(MPI_\)/\1/p' "$TMP/declared" >"$TMP/p"
grep '^MPI_' "$TMP/declared" | diff - "$TMP/p" ||
	fail "not every function has both names"
[ "$(wc -l <"$TMP/p")" -gt 250 ] || fail "that cannot be all"

printf '#include <mpi.h>\nint main() { return MPI_COMM_WORLD == MPI_COMM_NULL; }\n' \
	>"$TMP/t.c"
cp "$TMP/t.c" "$TMP/t.cc"
cc -std=c99 -pedantic -Wall -Wextra -Werror -I"$BUILD/include" -fsyntax-only "$TMP/t.c" ||
	fail "not C99"
if command -v c++ >/dev/null; then
	c++ -pedantic -Wall -Wextra -Werror -I"$BUILD/include" -fsyntax-only "$TMP/t.cc" ||
		fail "not C++"
fi
exit 0
