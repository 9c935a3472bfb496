#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
# timeout: 300
# The driver's sources as dkms takes them: added, built, installed, removed, all
# in folders of the test's own. For the kernel of the lab, which may have to be
# fetched first; where it cannot be had, for the running one.
cd "$(dirname "$0")/../.." && . tests/lib.sh
command -v dkms >/dev/null || skip "there is no dkms here"
make_tmp

kernel=$(lab/kernel default)
if dir=$(lab/kernel dir "$kernel" 2>"$TMP/log"); then
	kdir=$(lab/kernel headers "$kernel") version=$(cat "$dir/version")
else
	version=$(uname -r) kdir=/lib/modules/$version/build
fi
[ -f "$kdir/Makefile" ] || skip "no kernel headers: $(tail -n 1 "$TMP/log")"

make -s install-dkms DESTDIR="$TMP" || fail "make install-dkms"
sources=$(echo "$TMP"/usr/src/o2g-*)
name=$(basename "$sources" | sed 's/o2g-/o2g\//')

# Another module builds against them, as docs/driver.md tells. The symbols of o2g.ko are
# listed by hand here: dkms builds it below, and once is enough.
cp -r driver/examples "$TMP/model"
mkdir "$TMP/symbols"
cp "$sources/o2g_kernel.h" "$TMP/symbols"
sed -n 's/^EXPORT_SYMBOL_GPL(\(.*\));/0x00000000\t\1\to2g\tEXPORT_SYMBOL_GPL\t/p' \
	"$sources"/*.c >"$TMP/symbols/Module.symvers"
make -s -C "$kdir" M="$TMP/model" O2G_DIR="$TMP/symbols" modules >"$TMP/log" 2>&1 ||
	{ cat "$TMP/log"; fail "the model does not build"; }
! grep -i 'warning:' "$TMP/log" || fail "the compiler warns of the model"
mkdir "$TMP/tree"
mkdir -p "$TMP/modules/$version"

dk()
{
	dkms "$@" --dkmstree "$TMP/tree" --sourcetree "$TMP/usr/src" \
		--installtree "$TMP/modules" >"$TMP/log" 2>&1 ||
		{ cat "$TMP/log" "$TMP"/tree/o2g/*/build/make.log 2>/dev/null; fail "dkms $*"; }
}
for_kernel="-k $version -a x86_64 --kernelsourcedir $kdir --no-depmod"

dk add "$name"
dk build "$name" $for_kernel
! grep -i warning "$TMP"/tree/o2g/*/*/*/log/make.log || fail "the compiler warns"
dk install "$name" $for_kernel
module=$(find "$TMP/modules" -name 'o2g.ko*')
[ -n "$module" ] || fail "no module was installed"
/sbin/modinfo -F vermagic "$module" | grep -q "^$version " || fail "it is for another kernel"
dk remove "$name" --all
[ -z "$(find "$TMP/modules" -name 'o2g.ko*')" ] || fail "the module stays"
# Debian 13's dkms leaves a "sleep" behind, for dots that it did not have to print.
no_sleepers()
{
	! pgrep -s 0 -x sleep
}
wait_for 10 no_sleepers || fail "dkms leaves processes"
