#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
# Every MPI function has a manual page that man can read; the manual as HTML has no link
# that leads nowhere; completion and the file for environment modules work.
cd "$(dirname "$0")/../.." && . tests/lib.sh
make_tmp

make -s BUILD="$BUILD" man >"$TMP/log" 2>&1 || { cat "$TMP/log"; fail "make man"; }
nm -D --defined-only "$BUILD/lib/libmpi.so" | awk '$2 != "D" && $2 != "B" { print $3 }' | grep '^MPI_' |
	sort >"$TMP/functions"
[ "$(wc -l <"$TMP/functions")" -gt 400 ] || fail "libmpi.so could not be read"
(cd "$BUILD/man3" && ls ./*.3) | sed 's,^\./,,; s,\.3$,,' | sort >"$TMP/pages"
diff "$TMP/functions" "$TMP/pages" >"$TMP/diff" || { cat "$TMP/diff"; fail "functions and pages differ"; }
# What they say of arguments and errors is about that function.
says()
{
	tr '\n' ' ' <"$BUILD/man3/$1.3" | grep -Eq -- "$2" || fail "$1.3 does not say: $2"
}
says MPI_Info_get_string 'buflen "[^"]*" the size of value'
says MPI_Info_get_nkeys 'nkeys "[^"]*" how many keys'
says MPI_Waitall 'MPI_ERR_IN_STATUS'
says MPI_Comm_spawn 'MPI_ERR_SPAWN'
says MPI_T_pvar_read 'calls no error handler'
says MPI_File_read 'returns the code unless it was changed'
says MPI_Iallreduce 'MPI_Allreduce \(3\)'
for code in $(grep -oh 'MPI_T\?_\?ERR_[A-Z_]*' "$BUILD"/man3/*.3 | sort -u); do
	grep -qw "$code" "$BUILD/include/mpi.h" || fail "there is no $code"
done
command -v mandoc >/dev/null || skip "there is no mandoc"
# Those that only name another one find it where they are installed.
mandoc -T lint -W error $(grep -L '^\.so' "$BUILD"/man3/MPI_*.3) docs/man/*.[1-9] >"$TMP/lint" 2>&1 ||
	{ head -20 "$TMP/lint"; fail "mandoc finds errors in pages"; }

python3 -B packaging/html_manual.py "$TMP/html" "$BUILD/man3" || fail "no HTML"
python3 - "$TMP/html" <<'END' || fail "links lead nowhere"
import glob, os, re, sys
bad = 0
for f in glob.glob(os.path.join(sys.argv[1], '*.html')):
    text = open(f).read()
    if text.count('<pre') != text.count('</pre>'):
        print(f, 'is not in order')
        bad = 1
    for to in re.findall(r'(?:href|src)="([^"#:]+)', text):
        if not os.path.exists(os.path.join(sys.argv[1], to)):
            print(os.path.basename(f), to)
            bad = 1
sys.exit(bad)
END
grep -q '<a href="mpiexec.1.html">' "$TMP/html/MPI_Send.3.html" || fail "pages do not refer to each other"
for page in index o2g.7 o2g-why.1 MPI_Send.3 architecture; do
	[ -s "$TMP/html/$page.html" ] || fail "$page is not there"
done

# complete WORDS...: what bash offers for the last one.
complete_it()
{
	PATH=$PWD/$BUILD/bin:$PATH bash -c '. packaging/o2g.bash-completion
		COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
		case $1 in o2g) _o2g o2g ;; *) _o2g_mpiexec mpiexec ;; esac
		printf "%s\n" "${COMPREPLY[@]}"' - "$@" >"$TMP/out" 2>&1
}
complete_it o2g w
expect "$TMP/out" '^why$'
complete_it mpiexec -wh
expect "$TMP/out" '^-why$'
complete_it mpiexec --wh
expect "$TMP/out" '^--why$'
complete_it mpiexec --map-by n
expect "$TMP/out" '^node$'
complete_it mpiexec -bind-to n
expect "$TMP/out" '^numa$'

make -s BUILD="$BUILD" install-extras PREFIX="$TMP/inst" >"$TMP/log" 2>&1 ||
	{ cat "$TMP/log"; fail "make install-extras"; }
expect "$TMP/inst/share/modulefiles/mpi/o2g" "^prepend-path PATH $TMP/inst/bin\$"
expect_not "$TMP/inst/share/modulefiles/mpi/o2g" '@'
exit 0
