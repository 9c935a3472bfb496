#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
# Variables and directories of ranks on this host.
cd "$(dirname "$0")/../.." && . tests/lib.sh && . tests/system/launch.inc

export ALPHA="a  b" O2G_LOG=error
show='echo "${ALPHA-no} ${O2G_LOG-no} ${BETA-no}"'
run -n 1 sh -c "$show"
sorted_is "a  b error no"
run -env BETA "x y" -n 1 sh -c "$show" : -n 1 sh -c "$show"
sorted_is "a  b error no
a  b error x y"
run -genv BETA g -n 1 sh -c "$show" : -env BETA e -n 1 sh -c "$show"
sorted_is "a  b error e
a  b error g"
run -x BETA=1=2 -env ALPHA new -n 1 sh -c "$show"
sorted_is "new error 1=2"
run -genvnone -n 1 sh -c "$show"
sorted_is "no no no"
run -envnone -envlist ALPHA -n 1 sh -c "$show" : -n 1 sh -c "$show"
sorted_is "a  b error no
a  b no no"
run -genvnone -n 1 "$PROG" singleton
sorted_is launched

# What an outer launcher has left does not confuse the ranks.
PMI_PORT=nowhere:1 PMI_ID=7 PMI_RANK=9 PMI_SIZE=99 PMI_FD=55 \
	OMPI_COMM_WORLD_SIZE=4 run -n 2 "$PROG" board
expect_rc 0
expect_lines "$TMP/out" 2

mkdir "$TMP/dir"
(cd "$TMP" && timeout 10 "$MPIEXEC" -wdir dir -n 1 pwd : -n 1 pwd </dev/null \
	>"$TMP/out") || fail "-wdir"
sorted_is "$TMP
$TMP/dir"

# Ranks run the way a shell would run them: signals at their defaults, nothing
# of the launcher's open, a group of their own.
open=$(sh -c 'ls /proc/self/fd' </dev/null | wc -l)
run -n 1 sh -c 'ls /proc/self/fd | wc -l; grep SigIgn /proc/self/status
	grep SigBlk /proc/self/status; [ $(ps -o pgid= -p $$) = $$ ] && echo group'
expect_rc 0
expect "$TMP/out" "^$((open + 2))\$"	# and those of PMI and of its state
# posix_spawn, which make uses, leaves the two signals of the C library ignored.
expect "$TMP/out" 'SigIgn:.0*(180000000)?$'
expect "$TMP/out" 'SigBlk:.0*$'
expect "$TMP/out" '^group$'
exit 0
