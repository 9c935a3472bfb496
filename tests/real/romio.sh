#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
# The tests of ROMIO, which come with MPICH's source: of a file on disk, and of one in
# memory over tcp. They are older than MPI 3: a header has the names that they use and
# the standard has not any more. Left out are those that only take time (perf,
# coll_perf), that want a file of many GB (large_file, large_array), ROMIO's own hints
# (syshints), and error, which compares the words of errors with ROMIO's.
cd "$(dirname "$0")/../.." && . tests/real/lib.sh
make_tmp
fetch_source mpich bookworm trixie sid
src=$REAL/mpich/src/mpi/romio/test
work=$REAL/romio
mkdir -p "$work"

cat >"$work/old.h" <<'END'
/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
#include <mpi.h>
#include <stdlib.h>

#define MPIO_Request MPI_Request
#define MPIO_Wait MPI_Wait
#define MPIO_Test MPI_Test
#define MPI_LB ((MPI_Datatype)3)
#define MPI_UB ((MPI_Datatype)5)

/* Bounds that stand among the members become those of the type. */
static inline int old_struct(int n, const int *lengths, const MPI_Aint *at,
			     const MPI_Datatype *types, MPI_Datatype *type)
{
	int *len = malloc(n * sizeof(*len)), k = 0, lower = 0, upper = 0, err;
	MPI_Aint *disp = malloc(n * sizeof(*disp)), lb = 0, ub = 0, low, extent;
	MPI_Datatype *of = malloc(n * sizeof(*of)), plain;

	for (int i = 0; i < n; i++) {
		if (types[i] == MPI_LB) {
			lb = at[i];
			lower = 1;
		} else if (types[i] == MPI_UB) {
			ub = at[i];
			upper = 1;
		} else {
			len[k] = lengths[i];
			disp[k] = at[i];
			of[k++] = types[i];
		}
	}
	err = MPI_Type_create_struct(k, len, disp, of, &plain);
	free(len);
	free(disp);
	free(of);
	MPI_Type_get_extent(plain, &low, &extent);
	if (!lower)
		lb = low;
	if (!upper)
		ub = low + extent;
	if (!err)
		err = MPI_Type_create_resized(plain, lb, ub - lb, type);
	MPI_Type_free(&plain);
	return err;
}
#define MPI_Type_create_struct old_struct
END

# one RANKS PROGRAM ARGUMENTS...: says that all is well, or that its data is.
one()
{
	local n=$1 name=$2 c=$src/$2.c

	shift 2
	[ -e "$c" ] || sed 's/@[A-Z_]*@//g' "$c.in" >"$work/$name.c"
	[ -e "$c" ] || c=$work/$name.c
	"$MPICC" -w -O1 -include "$work/old.h" -o "$work/$name" "$c" \
		>"$TMP/out" 2>"$TMP/err" &&
		(cd "$work" && timeout 120 "$MPIEXEC" -n "$n" "./$name" "$@") \
			>"$TMP/out" 2>"$TMP/err" </dev/null &&
		cat "$TMP/out" "$TMP/err" |
		grep -qE 'No Errors|is correct|BIG ENDIAN' &&
		! grep -qiE 'unexpected|incorrect|[1-9] errors' "$TMP/out" "$TMP/err"
	check "$name, $n ranks, $O2G_CHANNELS"
	rm -f "$file"*
}

# all DIR: with files there.
all()
{
	local name

	file=$1/o2g_romio.$$
	for name in simple async async-multiple atomicity coll_test excl file_info \
		noncontig_coll2 misc shared_fp ordered_fp split_coll psimple \
		creat_excl; do
		one 4 $name -fname "$file"
	done
	for name in i_noncontig noncontig noncontig_coll; do
		one 2 $name -fname "$file"
	done
	one 1 status -fname "$file"
	one 1 external32 -fname "$file"
	one 4 aggregation1 -h -f "$file"
	for name in aggregation2 hindexed darray_read big_extents; do
		one 4 $name "$file"
	done
	one 2 types_with_zeros "$file"
}

export O2G_CHANNELS
O2G_CHANNELS=shm
all "$TMP"
O2G_CHANNELS=tcp
all /dev/shm
summary
