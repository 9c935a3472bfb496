#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
# The Fortran library has every routine that the table says is there, under all
# its names, and nothing else; it needs nothing of the compiler's runtime.
cd "$(dirname "$0")/../.." && . tests/lib.sh
lib=$BUILD/lib/libmpifort.so
[ -e "$lib" ] || { echo "no Fortran compiler"; exit 77; }
make_tmp

# From the table alone: what is C's only, and where buffers are.
python3 - mpi/bindings/functions.tsv >"$TMP/wanted" <<'END'
import re, sys
c_only = r'T_|.*_(c2f|f2c|toint|fromint)$|Status_(c2f08|f082c)$'
names = set()
for line in open(sys.argv[1]):
    if line.startswith('#'):
        continue
    _, name, state, parameters = line.rstrip('\n').split('\t')
    if state != 'yes' or re.match(c_only, name):
        continue
    low = name.lower()
    ts = '_f08ts_' if re.search(r'\b(BUFFER|LOGICAL_VOID) ', parameters) else '_f08_'
    if name != 'Sizeof':
        names.add(low + '_')
    if not name.startswith(('Attr_', 'Keyval_')):
        names.add(low + ts)
        if 'POLY' in parameters:
            names.add(low + '_c' + ts)
    if re.search(r'\bC_BUFFER ', parameters):
        names.add(low + '_cptr_')
# removed from the standard, but not from old programs
names |= {n + '_' for n in '''address type_extent type_lb type_ub
    type_hvector type_hindexed type_struct errhandler_create errhandler_set
    errhandler_get'''.split()}
for n in sorted(names):
    print('mpi_' + n, 'W')
    print('pmpi_' + n, 'T')
END
sort -o "$TMP/wanted" "$TMP/wanted"
nm -D --defined-only "$lib" | awk '{ print $3, $2 }' | sort >"$TMP/all"
grep -vE '^mpi_(fortran|f08)_.* [BDV]$|^__mpi_|_fn_(null_(c_)?)? T$' "$TMP/all" >"$TMP/there"
diff "$TMP/wanted" "$TMP/there" || fail "the table (<) and the library (>) differ"
[ "$(wc -l <"$TMP/wanted")" -gt 1000 ] || fail "that cannot be all"
[ "$(grep -c '_fn_.* T$' "$TMP/all")" = 14 ] || fail "predefined callbacks"
readelf -d "$lib" | grep -q libgfortran && fail "needs libgfortran"
exit 0
