#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
# Shared memory: the module against the engine of processes, with the same program, over
# TCP and by what there is for processes of one host: rings, or the driver's link.
# dsm.sh [PAGES]: one access. dsm.sh programs: SOR and TSP on four processes.
. lab/shows/mpis.inc
need_dsm

over()
{
	case $1 in tcp) echo N >"$DIRECT"; channels=tcp ;; *) echo Y >"$DIRECT"; channels=shm ;; esac
}

# on ENGINE WAY RANKS COMMAND...
on()
{
	local engine=$1 way=$2 np=$3

	shift 3
	over $way
	O2G_DSM=$engine O2G_CHANNELS=$channels timeout 200 "$MPIEXEC" -n "$np" "$@" \
		</dev/null 2>/tmp/show.err | sed -n "s/^{/{\"engine\": \"$engine\", \"way\": \"$way\", /p"
	tail -n 3 /tmp/show.err >&2
}

# Programs and libraries in the guest's memory: time passes while the host is asked for
# files, and mpiexec gives up.
bring()
{
	mkdir -p /tmp/here/lib
	cp -rL "$BUILD/bin" /tmp/here
	cp -L "$BUILD"/lib/*.so* /tmp/here/lib
	cp "$@" /tmp/here/bin
	export LD_LIBRARY_PATH=/tmp/here/lib
}

# program ENGINE WAY NAME SIZE: its seconds on four processes.
program()
{
	local engine=$1 way=$2 name=$3

	over $way
	O2G_DSM=$engine O2G_CHANNELS=$channels timeout 400 /tmp/here/bin/mpiexec -n 4 \
		"/tmp/here/bin/$name" "$4" 3 </dev/null >/tmp/show.out 2>/tmp/show.err ||
		tail -n 3 /tmp/show.err >&2
	sed -n "s/.* sequential \([0-9.]*\) s shared \([0-9.]*\) s .* faults \([0-9]*\) .*/{\"engine\": \"$engine\", \"way\": \"$way\", \"program\": \"$name\", \"sequential\": \1, \"seconds\": \2, \"faults\": \3}/p" \
		/tmp/show.out
}

[ "${1:-}" = programs ] && bring "$BUILD"/bench/dsm/{sor,tsp}
for way in tcp host; do
	for engine in user kernel; do
		if [ "${1:-}" = programs ]; then
			program $engine $way sor 258
			program $engine $way tsp 10
		else
			on $engine $way 3 "$PWD/$BUILD/lab/show/dsm" "${1:-300}"
		fi
	done
done
