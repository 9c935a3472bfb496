#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
# What helps with the work on the tree: compile_commands.json names every C file, the
# hook for commits knows good subjects from bad ones, coverage counts.
cd "$(dirname "$0")/../.." && . tests/lib.sh
make_tmp

make -s BUILD="$BUILD" COMPDB="$TMP/compdb.json" compdb || fail "make compdb"
# Compiled by the kernel's make, by tests with other MPIs' compilers, or elsewhere.
find base core engine channel driver dsm fs mpi launch tools examples bench lab tests -name '*.c' |
	grep -vxE '(lab/(hello|kapi)|driver/examples|dsm/kernel|fs/client|tests/system)/.*' |
	grep -vxE 'tools/bpf_(no)?load\.c' |
	grep -vxE '.*\.bpf\.c|bench/bpf/.*|bench/plain/(ring|flag)\.c' |
	sort >"$TMP/files"
python3 - "$TMP/compdb.json" >"$TMP/listed" <<-'END' || fail "compdb.json cannot be read"
	import json, sys
	for entry in json.load(open(sys.argv[1])):
	    assert "-c" in entry["arguments"] or "-o" in entry["arguments"]
	    print(entry["file"])
END
sort -o "$TMP/listed" "$TMP/listed"
comm -23 "$TMP/files" "$TMP/listed" >"$TMP/missing"
[ -s "$TMP/missing" ] && { cat "$TMP/missing"; fail "compile_commands.json lacks them"; }

# subject good|bad TEXT
subject()
{
	printf '%s\n' "$2" >"$TMP/message"
	if scripts/hooks/commit-msg "$TMP/message" 2>"$TMP/err"; then
		[ "$1" = good ] || fail "the hook takes: $2"
	else
		[ "$1" = bad ] || { cat "$TMP/err"; fail "the hook refuses: $2"; }
	fi
}

subject good 'channel/tcp: sockets are made in one place'
subject good 'CONTRIBUTING: what CI runs'
subject good '.ci: everything in a fresh root

Because.'
subject bad 'sockets are made in one place'
subject bad "tcp: $(printf '%070d' 0)"
subject bad 'tcp: what
and more of it'

cat >"$TMP/main.c" <<'END'
#include "nearest.h"
int main(void)
{
	return o2g_distance("a", "b") != 1;
}
END
${CC:-cc} -O0 --coverage -Ibase -o "$TMP/main" -dumpdir "$TMP/" base/nearest.c "$TMP/main.c" \
	>"$TMP/out" 2>&1 || { cat "$TMP/out"; skip "no compiler that counts"; }
"$TMP/main" || fail "the program that is counted"
scripts/coverage "$TMP" >"$TMP/out" || fail "scripts/coverage"
expect "$TMP/out" '^base +[0-9]+ +[1-9][0-9.]+ % +[0-9]+ +[1-9][0-9.]+ %$'
mkdir "$TMP/none"
scripts/coverage "$TMP/none" 2>"$TMP/err" && fail "coverage of nothing"
expect "$TMP/err" 'nothing in .* was built with COVERAGE=1'
