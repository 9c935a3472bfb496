#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
# timeout: 300
# Install, then use only what was installed; uninstall leaves nothing.
cd "$(dirname "$0")/../.." && . tests/lib.sh
make_tmp
to=$TMP/inst
unset LD_LIBRARY_PATH

mk()
{
	make -s BUILD="$BUILD" "$@" >"$TMP/log" 2>&1 || { cat "$TMP/log"; fail "make $*"; }
}

mk install PREFIX="$to"
mkdir "$TMP/src"
cp examples/ring.c examples/hello.c "$TMP/src"
cd "$TMP/src" || exit 1
"$to/bin/mpicc" -Wall -Werror -O2 ring.c -o ring || fail "mpicc"
timeout 20 "$to/bin/mpiexec" -n 4 ./ring >out 2>&1 || { cat out; fail "mpiexec"; }
expect out 'the token counts 4000'
ldd ring | grep -q "$to/lib" || fail "ring does not use the installed library"
ldd ring | grep -q "not found" && fail "a library is not found"

export PKG_CONFIG_PATH=$to/lib/pkgconfig
cc $(pkg-config --cflags mpi) ring.c -o ring2 $(pkg-config --libs mpi) ||
	fail "pkg-config mpi"
mkdir other
echo 'int other;' | cc -shared -fPIC -o other/libmpi.so -x c - || fail "a library"
cc $(pkg-config --cflags mpi) -Lother ring.c -o ring2 $(pkg-config --libs mpi) ||
	fail "pkg-config mpi takes another MPI"
timeout 20 "$to/bin/mpiexec" -n 2 ./ring2 >out 2>&1 || { cat out; fail "ring2"; }
cc $(pkg-config --cflags o2g) hello.c -o hello $(pkg-config --libs o2g) ||
	fail "pkg-config o2g"
timeout 20 ./hello >out 2>&1 || { cat out; fail "hello"; }
cp "$OLDPWD/examples/dsm_histogram.c" .
cc $(pkg-config --cflags o2gdsm) dsm_histogram.c -o histogram \
	$(pkg-config --libs o2gdsm) || fail "pkg-config o2gdsm"
timeout 20 "$to/bin/mpiexec" -n 2 ./histogram >out 2>&1 || { cat out; fail "histogram"; }
expect out '^1000000 numbers'
[ "$(pkg-config --modversion o2g)" = "$("$to/bin/o2g" version | cut -d' ' -f2)" ] ||
	fail "versions differ"
"$to/bin/o2g" info >out || fail "o2g info"
if command -v g++ >/dev/null; then
	cp ring.c ring.cc
	"$to/bin/mpicxx" ring.cc -o ring3 || fail "mpicxx"
	"$to/bin/mpiCC" ring.cc -o ring3 || fail "mpiCC"
	timeout 20 "$to/bin/mpiexec" -n 2 ./ring3 >out 2>&1 || { cat out; fail "ring3"; }
fi
if [ -x "$to/bin/mpifort" ]; then
	cp "$OLDPWD/examples/ring_f08.f90" .
	"$to/bin/mpifort" ring_f08.f90 -o ring4 || fail "mpifort"
	timeout 20 "$to/bin/mpiexec" -n 2 ./ring4 >out 2>&1 || { cat out; fail "ring4"; }
	expect out 'the token counts'
	ldd ring4 | grep -q "$to/lib/libmpifort" || fail "ring4 uses another library"
	gfortran $(pkg-config --cflags mpi-fort) ring_f08.f90 -o ring5 \
		$(pkg-config --libs mpi-fort) || fail "pkg-config mpi-fort"
	timeout 20 "$to/bin/mpiexec" -n 2 ./ring5 >out 2>&1 || { cat out; fail "ring5"; }
fi
for page in man3/o2g_send.3 man3/o2g_isend.3 man3/o2g_dsm_init.3 man7/o2g.7 man1/o2g.1; do
	[ -s "$to/share/man/$page" ] || fail "$page is not installed"
done
expect "$to/lib/systemd/system/o2g-bpf@.service" \
	"^ExecStart=$to/bin/o2g bpf load --group %i\$"
cd "$OLDPWD" || exit 1

for p in mpi mpi-c mpi-cxx; do
	PKG_CONFIG_LIBDIR=$to/lib/pkgconfig pkg-config --libs $p | grep -q -- -lmpi_o2g || fail "$p.pc"
done

mk uninstall PREFIX="$to"
left=$(find "$to" ! -type d)
[ -z "$left" ] || fail "uninstall leaves: $left"

# For packages: into DESTDIR, for PREFIX.
mk install DESTDIR="$TMP/stage" PREFIX=/usr
[ -e "$TMP/stage/usr/bin/mpiexec" ] || fail "DESTDIR is not obeyed"
grep -rIl "$TMP/stage" "$TMP/stage" && fail "DESTDIR is in an installed file"
grep -q '^prefix=/usr$' "$TMP/stage/usr/lib/pkgconfig/mpi.pc" || fail "mpi.pc"
