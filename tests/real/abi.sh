#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
# The standard ABI of MPI 5.0, shared with MPICH 5 and Open MPI 6: programs that
# were compiled with the headers of one, and linked with its library, run on
# another. Both come from Debian sid, unpacked beside the system; since they are
# made for a newer libc, ours runs on theirs inside of what was unpacked.
cd "$(dirname "$0")/../.." && . tests/real/lib.sh
make_tmp
root=$REAL/sid
fetch_root sid sid mpich libmpich-dev openmpi-bin libopenmpi-dev
libs=/usr/lib/x86_64-linux-gnu
peers="mpich openmpi"
programs="pt2pt persistent probe group intercomm type_messages status complete
	truncate buffered threads op_predefined"
# Those of ours that ask for nothing that another MPI may do differently.
portable="nas_cg nas_ep nas_ft nas_is nas_mg type_messages grequest removed"

header_of()
{
	case $1 in
	mpich) echo "$root$libs/mpi_abi_mpich/include" ;;
	openmpi) echo "$root$libs/openmpi/include/standard_abi" ;;
	esac
}

library_of()
{
	ls "$root$libs/libmpi_abi_$1.so".1.*
}

# compile PEER PROGRAM: as a user of that MPI would. What its library needs in
# turn is not on this system, and not looked for.
compile()
{
	mkdir -p "$TMP/$1"
	cc -O1 -w -Itests/mpi -I"$(header_of "$1")" "tests/mpi/$2.c" \
		-o "$TMP/$1/$2" -Wl,--unresolved-symbols=ignore-in-shared-libs \
		"$(library_of "$1")" -pthread -lm >"$TMP/out" 2>"$TMP/err"
}

# ranks PROGRAM: as many as the list of tests has first.
ranks()
{
	awk -v p="$1" '$1 == p { print $2; exit }' tests/mpi/testlist
}

# --- theirs, on our library ---

for peer in $peers; do
	[ -e "$(header_of $peer)/mpi.h" ] || skip "no $(header_of $peer)/mpi.h"
	for program in $programs; do
		compile $peer $program &&
			readelf -d "$TMP/$peer/$program" |
			grep -q 'NEEDED.*libmpi_abi.so.1' &&
			LD_LIBRARY_PATH=$PWD/$BUILD/lib timeout 60 "$MPIEXEC" \
				-n "$(ranks $program)" "$TMP/$peer/$program" \
				>"$TMP/out" 2>"$TMP/err" </dev/null
		check "$program, compiled with $peer, on our library"
	done
done

# --- ours, on their libraries ---

# foreign PEER RANKS PROGRAM: in the unpacked system, with its launcher.
foreign()
{
	local peer=$1 n=$2 mpiexec

	case $peer in
	mpich) mpiexec="mpiexec.mpich" ;;
	openmpi) mpiexec="mpiexec.openmpi --allow-run-as-root --oversubscribe" ;;
	esac
	mkdir -p "$root/o2g/$peer" &&
		ln -sf "$libs/$(basename "$(library_of "$peer")")" \
			"$root/o2g/$peer/libmpi_abi.so.1" &&
		cp --remove-destination "$3" "$root/o2g/program" &&
		timeout 60 unshare --mount --pid --fork --kill-child bash -c '
			mount -t proc none "$0/proc" &&
			mount --bind /dev "$0/dev" &&
			mount --bind /sys "$0/sys" &&
			mount -t tmpfs none "$0/tmp" &&
			exec env -i PATH="$PATH" HOME=/root LC_ALL=C \
				LD_LIBRARY_PATH="$1" chroot "$0" "${@:2}"' \
			"$root" "/o2g/$peer" $mpiexec -n "$n" /o2g/program \
			>"$TMP/out" 2>"$TMP/err" </dev/null
}

if [ "$(id -u)" != 0 ] || ! unshare --mount true 2>/dev/null; then
	echo "not tested without root: our programs on their libraries"
	summary
fi
for peer in $peers; do
	for program in $portable; do
		foreign $peer "$(ranks $program)" "$BUILD/tests/mpi/$program"
		check "$program, compiled with our mpicc, on $peer"
	done
done
summary
