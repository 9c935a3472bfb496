#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
# What ranks print: in whole lines.
cd "$(dirname "$0")/../.." && . tests/lib.sh && . tests/system/launch.inc

# What rank $1 prints, as a pattern.
line_of()
{
	echo "$1 [0-9]{7} 0{88}$1"
}

# torn: how many lines are not as a rank has printed them, with its label or none.
torn()
{
	LC_ALL=C grep -Evc "^((\[0\] )?$(line_of 0)|(\[1\] )?$(line_of 1))$" "$TMP/out"
}

# Lines are whole, however many come at once. Three attempts: a proxy that does not
# get the processor for long enough between two halves of a line tears it.
whole_lines()
{
	for _ in 1 2 3; do
		run "$@" -n 2 "$PROG" lines 200000
		expect_rc 0
		[ "$(torn)" = 0 ] && break
	done
	[ "$(torn)" = 0 ] || fail "$(torn) lines are torn"
	expect_lines "$TMP/out" 400000
}
whole_lines
whole_lines -l
exit 0
