#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
# timeout: 1200
# Debian's packages: built, free of what lintian calls an error or a warning, installed
# beside the MPIs that are there, used and removed, in a copy of this system that is
# thrown away. The short form packs what is compiled already, and lintian, which would
# find that it lacks Debian's options for the compiler, is for the long one.
cd "$(dirname "$0")/../.." && . tests/lib.sh
need_root
command -v dh >/dev/null || skip "there is no debhelper (scripts/setup deb)"
make_tmp
out=${DEB_OUT:-$PWD/$BUILD/deb}
long=${LONG:-0}
if [ -z "${DEB_OUT:-}" ] && [ "$long" != 0 ]; then
	make -s BUILD="$BUILD" deb >"$TMP/log" 2>&1 || { tail -30 "$TMP/log"; fail "make deb"; }
elif [ -z "${DEB_OUT:-}" ]; then
	out=$TMP/deb
	packaging/make-deb "$(sed -n 's/^VERSION := //p' Makefile)" "$out" "$BUILD" \
		>"$TMP/log" 2>&1 || { tail -30 "$TMP/log"; fail "packaging/make-deb"; }
fi
for p in libo2g0 libo2g-dev o2g o2g-dkms o2g-doc; do
	ls "$out/${p}"_*.deb >/dev/null 2>&1 || fail "there is no package $p"
done
if [ "$long" != 0 ] && command -v lintian >/dev/null; then
	lintian --allow-root --fail-on error,warning "$out"/*.changes >"$TMP/lintian" 2>&1 ||
		{ cat "$TMP/lintian"; fail "lintian"; }
fi

# Everything that is written goes to memory.
cat >"$TMP/inside" <<'END'
set -e
mount -t tmpfs none "$1/layer"
mkdir "$1/layer/upper" "$1/layer/work" "$1/layer/root"
mount -t overlay overlay -o "lowerdir=/,upperdir=$1/layer/upper,workdir=$1/layer/work" "$1/layer/root" || exit 77
root=$1/layer/root
mount --rbind /proc "$root/proc"
mount --rbind /dev "$root/dev"
mount -t tmpfs none "$root/tmp"
cp "$2"/libo2g0_*.deb "$2"/libo2g-dev_*.deb "$2"/o2g_*.deb "$2"/o2g-doc_*.deb "$root/tmp"
cp examples/ring.c "$root/tmp"
chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root sh -ec '
	cd /tmp
	before=$(readlink -f /usr/bin/mpirun || true)
	dpkg -i *.deb
	[ -z "$before" ] || [ "$(readlink -f /usr/bin/mpirun)" = "$before" ]
	mpicc.o2g -Wall -O2 ring.c -o ring
	mpiexec.o2g -n 3 ./ring | grep "the token counts"
	ldd ring | grep -q /o2g/lib/libmpi_abi.so.1
	pkg-config --exists o2g o2g-mpi
	cc $(pkg-config --cflags o2g-mpi) ring.c -o ring2 $(pkg-config --libs o2g-mpi)
	mpiexec.o2g -n 2 ./ring2 | grep "the token counts"
	o2g info >/dev/null
	man -w 3o2g MPI_Send >/dev/null 2>&1 || [ -e /usr/share/man/man3/MPI_Send.3o2g.gz ]
	# chosen, it is what everybody calls mpicc and mpirun
	update-alternatives --set mpirun /usr/bin/mpirun.o2g >/dev/null
	update-alternatives --set mpi /usr/bin/mpicc.o2g >/dev/null
	triplet=$(cc -print-multiarch)
	update-alternatives --set mpi-$triplet /usr/lib/$triplet/o2g/include >/dev/null
	mpiexec --version | grep O2G
	mpicc ring.c -o ring3
	for p in mpi mpi-c mpi-cxx; do pkg-config --libs $p | grep -q -- -lmpi_o2g; done
	mpirun -n 2 ./ring3 | grep "the token counts"
	dpkg -r o2g-doc libo2g-dev o2g libo2g0
	[ -z "$before" ] || [ "$(readlink -f /usr/bin/mpirun)" = "$before" ]
	dpkg -P o2g-doc libo2g-dev o2g libo2g0
'
# What was written is in the upper layer, and nothing else is.
left=$(find "$1/layer/upper" -name '*o2g*' ! -type c)
[ -z "$left" ] || { echo "left behind: $left"; exit 1; }
echo all is well
END
mkdir "$TMP/layer"
unshare -m --propagation private bash "$TMP/inside" "$TMP" "$out" >"$TMP/out" 2>&1
rc=$?
[ $rc != 77 ] || skip "no overlay file system here"
[ $rc = 0 ] || { tail -30 "$TMP/out"; fail "installing, using or removing failed"; }
expect "$TMP/out" '^all is well$'
exit 0
