#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
# machine: --count
# slow: machines of its own
# Each machine of a pair counts its own instructions, also at the same time.
. lab/tests/guest.inc
need_pair

count=$PWD/$BUILD/lab/count

# busy TURNS: a loop of a shell.
busy()
{
	printf 'i=0; while [ $i -lt %d ]; do i=$((i + 1)); done' "$1"
}

# of_user: the instructions of programs in what lab/count has printed.
of_user()
{
	sed -n 's/^instructions: user \([0-9]*\) kernel [0-9]*$/\1/p' "$1"
}

"$REMOTE" b "$count sh -c '$(busy 30000)'" >/tmp/b &
"$count" sh -c "$(busy 3000)" >/tmp/a || fail "nobody counts in a"
wait $! || fail "nobody counts in b"
cat /tmp/a /tmp/b
a=$(of_user /tmp/a) b=$(of_user /tmp/b)
[ "${a:-0}" -gt 100000 ] && [ "${b:-0}" -gt $((4 * a)) ] ||
	fail "ten times the turns are not many times the instructions"
