#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
# The compiler wrappers, in the build tree and moved elsewhere.
cd "$(dirname "$0")/../.." && . tests/lib.sh && . tests/system/launch.inc

MPICXX=$PWD/$BUILD/bin/mpicxx
src=$PWD/tests/system/launch_mpi.c

shows()
{
	local want=$1 got

	shift
	got=$("$@") || fail "$*: exit code $?"
	[ "$got" = "$want" ] || fail "$*
shows   $got
and not $want"
}
dir=$(readlink -f "$BUILD")
inc=-I$dir/include
link="-L$dir/lib -Wl,-rpath,$dir/lib -lmpi_o2g"
shows "cc $inc $link" "$MPICC" -show
shows "cc $inc x.c $link" "$MPICC" -show x.c
shows "cc $inc -c x.c -o x.o" "$MPICC" -show -c x.c -o x.o
shows "cc $inc x.c -E" "$MPICC" x.c -E -show
shows "cc $inc '-DA=\"b c\"' -c 'x y.c'" "$MPICC" -show '-DA="b c"' -c 'x y.c'
shows "cc $inc" "$MPICC" -compile-info
shows "cc $inc" "$MPICC" -show-compile-info
shows "cc $link" "$MPICC" -link-info
# As cmake and meson ask: without the compiler.
# The user's own -lmpi is no other MPI's.
shows "cc $inc -L/usr/lib x.c -lmpi_o2g -lm -lmpix $link" "$MPICC" -show -L/usr/lib x.c -lmpi -lm -lmpix
"$MPICC" -L/usr/lib/"$(cc -print-multiarch)" "$src" -o "$TMP/ours" -lmpi || fail "-lmpi"
ldd "$TMP/ours" | grep -q "$dir/lib/libmpi_abi.so.1" || fail "-lmpi links $(ldd "$TMP/ours")"
shows "$inc" "$MPICC" -showme:compile
shows "$link" "$MPICC" --showme:link
shows "$dir/include" "$MPICC" -showme:incdirs
shows "$dir/lib" "$MPICC" -showme:libdirs
shows mpi_o2g "$MPICC" -showme:libs
shows cc "$MPICC" -showme:command
shows "cc $inc x.c $link" "$MPICC" --showme x.c
"$MPICC" --showme:version | grep -Eq '[0-9]+\.[0-9]+\.[0-9]+' || fail "-showme:version"
"$MPICC" -showme:moon 2>"$TMP/err" && fail "-showme:moon is accepted"
expect "$TMP/err" '^mpicc: -showme: knows .*, not moon'
MPIFORT=$PWD/$BUILD/bin/mpifort
if [ -x "$MPIFORT" ]; then
	flink="-L$dir/lib -Wl,-rpath,$dir/lib -lmpifort_o2g -lmpi_o2g"
	"$MPIFORT" -show x.f90 | grep -qF -- "$inc " || fail "mpifort -show"
	"$MPIFORT" -show x.f90 | grep -qF -- "x.f90 $flink" || fail "mpifort -show"
	shows "my-fc $inc x.f90 $flink" "$MPIFORT" -fc=my-fc -show x.f90
	shows "my-fc $inc -c x.f90" env O2G_FC=my-fc "$MPIFORT" -show -c x.f90
	shows "my-fc $inc x.f $flink" "$BUILD/bin/mpif77" -fc=my-fc -show x.f
fi
shows "my-cc $inc x.c $link" "$MPICC" -cc=my-cc -show x.c
shows "cache cc $inc x.c $link" env O2G_CC="cache cc" "$MPICC" -show x.c
shows "c++ $inc x.cc $link" "$MPICXX" -show x.cc
shows "my-c++ $inc x.cc $link" env O2G_CXX=my-c++ "$MPICXX" -show x.cc
shows "$(cc --version)" "$MPICC" --version
"$MPICC" -v >"$TMP/out" 2>&1 || fail "mpicc -v"

# An argument with everything in it arrives as it is.
cat >"$TMP/args.c" <<'END'
#include <mpi.h>
const char *text = TEXT;
END
"$MPICC" -DTEXT='"a  $b `c` \\ '\''d"' -c -o "$TMP/args.o" "$TMP/args.c" ||
	fail "quoting"
strings "$TMP/args.o" | grep -qF "a  \$b \`c\` \\ 'd" || fail "quoting: $(strings "$TMP/args.o")"

# In one step, in two, in C++; found at run time without a setting.
(cd "$TMP" && "$MPICC" -Wall -Werror "$src" -o one) || fail "one step"
(cd "$TMP" && "$MPICC" -c "$src" -o two.o && "$MPICC" two.o -o two) ||
	fail "two steps"
for p in one two; do
	run -n 2 "$TMP/$p"
	expect_rc 0
	expect_lines "$TMP/out" 2
done
if command -v c++ >/dev/null; then
	cp "$src" "$TMP/launch.cc"
	"$MPICXX" -Wall -Werror -o "$TMP/cxx" "$TMP/launch.cc" || fail "mpicxx"
	run -n 2 "$TMP/cxx"
	expect_rc 0
	expect_lines "$TMP/out" 2
fi

# A directory of the user's in which there are other MPIs' libraries.
mkdir "$TMP/other"
for lib in libmpi libmpi_abi libmpifort libmpifort_abi; do
	echo 'int other;' | cc -shared -fPIC -Wl,-soname,libother.so \
		-o "$TMP/other/$lib.so" -x c - || fail "a library"
done
# links WRAPPER SOURCE
links()
{
	"$1" -Wl,--no-as-needed -L"$TMP/other" -o "$TMP/prog" "$2" || fail "$1 takes another MPI"
	readelf -d "$TMP/prog" >"$TMP/needed"
	expect "$TMP/needed" 'NEEDED.*libmpi_abi\.so\.1'
	expect_not "$TMP/needed" libother
}
links "$MPICC" "$src"
[ ! -x "$MPIFORT" ] || links "$MPIFORT" "$PWD/examples/ring_f08.f90"

# The compiler's failure is the wrapper's.
echo 'int main(void) { return x; }' >"$TMP/bad.c"
"$MPICC" -o "$TMP/bad" "$TMP/bad.c" 2>/dev/null && fail "a bad program compiles"

# Moved, and called through a link.
mkdir -p "$TMP/moved dir/bin" "$TMP/moved dir/include" "$TMP/moved dir/lib"
cp "$MPICC" "$TMP/moved dir/bin"
"$TMP/moved dir/bin/mpicc" -c "$src" 2>"$TMP/err" && fail "compiles without mpi.h"
expect "$TMP/err" 'mpi\.h is not there'
cp -L "$BUILD"/include/mpi.h "$TMP/moved dir/include"
cp -a "$BUILD"/lib/lib* "$TMP/moved dir/lib"
ln -s "$TMP/moved dir/bin/mpicc" "$TMP/link"
"$TMP/link" -o "$TMP/moved" "$src" || fail "moved"
ldd "$TMP/moved" | grep -q "moved dir/lib/libmpi" || fail "not the moved library"
run -n 2 "$TMP/moved"
expect_rc 0
exit 0
