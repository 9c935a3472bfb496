#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
# Modules for a kernel that brings its own compiler are built with that, whatever CC
# is, and also if an older lab/kernel has fetched it. The kernel is made up.
cd "$(dirname "$0")/../.." && . tests/lib.sh
make_tmp
dir=$TMP/kernels/sid src=$TMP/kernels/sid/root/usr/src/linux-headers-9.9-amd64
mkdir -p "$dir/headers" "$src"
echo 9.9-amd64 >"$dir/version"
echo 'modules: ; @echo "compiler $(CC), module $(M)"' >"$src/Makefile"
cat >"$dir/in-tools" <<'END'
#!/bin/sh
shift
exec "$@"
END
chmod +x "$dir/in-tools"
echo "%: ; @$dir/in-tools none \$(MAKE) -C $src \$@" >"$dir/headers/Makefile"

headers=$(O2G_LAB_CACHE=$TMP lab/kernel headers sid) || fail "lab/kernel headers sid"
env -u MAKEFLAGS -u MAKELEVEL make -s -C "$headers" CC="ccache cc" M=here modules \
	>"$TMP/out" 2>&1
expect "$TMP/out" '^compiler gcc, module here$'
exit 0
