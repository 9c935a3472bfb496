#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
# Boost.MPI, a C++ interface to MPI, and its own tests: objects of any shape that
# are packed, or sent by a datatype made of where their members are.
cd "$(dirname "$0")/../.." && . tests/real/lib.sh
make_tmp
fetch_source boost1.83 trixie
src=$REAL/boost1.83/libs
obj=$REAL/boost-mpi
cases=$src/mpi/test/CMakeLists.txt
mkdir -p "$obj"

# programs: NAME SOURCE RANKS..., as its list for cmake has them.
programs()
{
	sed -nE 's/^ *add_mpi_tests\(([a-z_]+) +([0-9 ]*)\).*/\1 \1.cpp \2/p
		s/^ *add_mpi_tests_with_src\(([a-z_]+) +(.*)\).*/\1 \2/p' "$cases"
}

# Its own build system wants all of Boost: this is what the tests need of it.
{
	printf 'FLAGS = -O0 -w -std=c++14'
	printf ' -I%s' "$src"/*/include "$src"/numeric/*/include
	printf '\nCXX = %s\nvpath %%.cpp %s/mpi/src %s/serialization/src\n' \
		"$(dirname "$MPICC")/mpicxx" "$src" "$src"
	printf 'all: %s\n' "$(programs | cut -d' ' -f1 | tr '\n' ' ')"
	programs | while read -r name file ranks; do
		printf '%s: %s/mpi/test/%s parts.a %s\n\t$(CXX) $(FLAGS) -o $@ %s\n' \
			"$name" "$src" "$file" "$PWD/$BUILD/lib/libmpi.so" \
			'$< parts.a -pthread'
	done
	printf 'parts.a: %s\n\tar cr $@ $^\n' "$(cd "$src" &&
		ls mpi/src/*.cpp serialization/src/*.cpp |
		grep -vE 'xml|/(polymorphic_)?(text|binary)_w|basic_text_w' |
		sed 's|.*/\(.*\)\.cpp|\1.o|' | tr '\n' ' ')"
	printf '%%.o: %%.cpp\n\t$(CXX) $(FLAGS) -c -o $@ $<\n'
} >"$obj/Makefile"
make -j2 -C "$obj" >"$TMP/out" 2>"$TMP/err"
check "builds with our mpicxx" || summary

# run NAME RANKS: a program's exit code is the number of its checks that failed.
run()
{
	(cd "$obj" && timeout 120 "$MPIEXEC" -n "$2" "./$1") \
		>"$TMP/out" 2>"$TMP/err" </dev/null && ! grep -q '^FAILED' "$TMP/err"
	judge $? "$1 on $2 ranks$3"
}
while read -r name file ranks; do
	for n in $ranks; do
		run "$name" "$n"
	done
done < <(programs)
for name in test_skeleton_content test_nonblocking test_all_gather; do
	O2G_CHANNELS=tcp run $name 4 " over tcp"
done
summary
