#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
# timeout: 120
# An algorithm of a collective is one file and one row of table.def: neither is
# there without the other, and one that is added by these two alone is used.
cd "$(dirname "$0")/../.." && . tests/lib.sh
make_tmp
table=mpi/coll/table.def

# Files of algorithms, but for what is no choice: algorithms.h says why.
for dir in mpi/coll/*/; do
	[ "$dir" = mpi/coll/op/ ] && continue
	for f in "$dir"*_*.c; do
		f=${f##*/}
		case ${f%.c} in
		*_inter | *_in_place | reduce_scatter) ;;
		*) echo "${f%.c}" ;;
		esac
	done
done | sort >"$TMP/files"
sed -n 's/^COLL_ROW(\([a-z_]*\), \([a-z_]*\),.*/\1_\2/p' $table | sort -u >"$TMP/rows"
[ "$(wc -l <"$TMP/files")" -ge 50 ] || fail "only $(wc -l <"$TMP/files") files found"
diff "$TMP/files" "$TMP/rows" >"$TMP/diff" ||
	{ cat "$TMP/diff"; fail "files (<) and rows (>) differ"; }

# An algorithm more: a barrier that says so.
mkdir "$TMP/coll"
awk '{ print } /^COLL_ROW\(barrier, shared,/ {
	print "COLL_ROW(barrier, loud, always, ASKED, BYTES_ALL)" }' $table >"$TMP/coll/table.def"
cat >"$TMP/barrier_loud.c" <<'END'
#include <stdio.h>

#include "coll/algorithms.h"

int mpii_barrier_loud(const struct coll *k)
{
	fprintf(stderr, "a loud barrier\n");
	return mpii_barrier_dissemination(k);
}
END
inc="-I$TMP $(make -s BUILD="$BUILD" print-inc-mpi)"
for f in "$TMP/barrier_loud.c" mpi/coll/choose.c mpi/coll/asked.c; do
	o=$TMP/$(basename "$f" .c).o
	# shellcheck disable=SC2086
	cc -std=gnu11 -O1 -Wall -Wextra -Wno-unused-parameter -Werror -fPIC -fvisibility=hidden \
		-fno-strict-aliasing $inc -c "$f" -o "$o" || fail "$f"
done
tr ' ' '\n' <"$BUILD/objects" | grep -E "^$BUILD/(mpi|launch/pmi)/" |
	grep -v -e /coll/choose.o -e /coll/asked.o | sort -u >"$TMP/objects"
mkdir "$TMP/lib"
# shellcheck disable=SC2046
cc -shared -Wl,-soname,libmpi_abi.so.1 -Wl,--version-script,mpi/libmpi.map \
	-o "$TMP/lib/libmpi_abi.so.1" "$TMP"/*.o $(cat "$TMP/objects") \
	-L"$BUILD/lib" -lo2g -Wl,-rpath,"$PWD/$BUILD/lib" -pthread -lm || fail "no library"

prog=$PWD/$BUILD/tests/mpi/coll_forms
loud() { LD_PRELOAD="$TMP/lib/libmpi_abi.so.1" O2G_COLL=$1 timeout 60 "$MPIEXEC" -n 3 "$prog" 20 600; }
loud '' >"$TMP/out" 2>&1 || { cat "$TMP/out"; fail "the job with one row more"; }
grep -q loud "$TMP/out" && fail "a row that nobody asked for was chosen"
loud barrier=loud >"$TMP/out" 2>&1 || { cat "$TMP/out"; fail "the job with the new algorithm"; }
expect "$TMP/out" 'a loud barrier'
