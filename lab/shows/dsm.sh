#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
# Shared memory: the module against the engine of processes, with the same program, over
# TCP and by what there is for processes of one host: rings, or the driver's link.
. lab/shows/mpis.inc
need_dsm

# on ENGINE WAY RANKS COMMAND...
on()
{
	local engine=$1 way=$2 np=$3

	shift 3
	case $way in tcp) echo N >"$DIRECT"; channels=tcp ;; *) echo Y >"$DIRECT"; channels=shm ;; esac
	O2G_DSM=$engine O2G_CHANNELS=$channels timeout 200 "$MPIEXEC" -n "$np" "$@" \
		</dev/null 2>/tmp/show.err | sed -n "s/^{/{\"engine\": \"$engine\", \"way\": \"$way\", /p"
	tail -n 3 /tmp/show.err >&2
}

for way in tcp host; do
	for engine in user kernel; do
		on $engine $way 3 "$PWD/$BUILD/lab/show/dsm" "${1:-300}"
	done
done
