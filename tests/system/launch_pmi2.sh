#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
# The library's PMI-2, against a small server of our own, which does what the
# protocol says, and then what it should not.
cd "$(dirname "$0")/../.." && . tests/lib.sh && . tests/system/launch.inc
command -v python3 >/dev/null || skip "needs python3"

# served HOW RANKS ARGUMENTS: ranks under tests/mock/pmi2_server.py.
served()
{
	local how=$1 n=$2

	shift 2
	timeout -k 2 30 python3 tests/mock/pmi2_server.py "$how" "$n" "$PROG" "$@" \
		</dev/null >"$TMP/out" 2>"$TMP/err"
	rc=$?
}

served well 3 board
expect_rc 0
[ "$(grep -c 'of 3 app 5 universe 17 board ok' "$TMP/out")" = 3 ] || fail board
# By a launcher that does not name the job.
served unnamed 2 board
expect_rc 0
expect_lines "$TMP/out" 2
# In the smallest pieces.
served bytes 2 board
expect_rc 0
expect_lines "$TMP/out" 2
served well 2 threads
expect_rc 0
served well 3 barriers 50
expect_rc 0
# The code travels in the text, and the server of this test exits with it.
served well 3 abort 7
expect_rc 7
expect "$TMP/err" 'asked to'
served well 1 abort-in-barrier
expect_rc 23

# Launchers that refuse, talk nonsense or die: words, and no hang.
served refuse-version 1 board
expect_rc 98
expect_lines "$TMP/err" 2
expect "$TMP/err" 'speaks PMI version 1 and refuses PMI-2'
served refuse-init 1 board
expect_rc 98
expect "$TMP/err" 'the launcher refused to let us join: .*errmsg=who are you'
served wrong-count 1 board
expect_rc 98
expect "$TMP/err" 'but the length of a message was expected'
served long-count 1 board
expect_rc 98
expect "$TMP/err" 'but the length of a message was expected'
served wrong-answer 1 board
expect_rc 98
expect "$TMP/err" 'but job-getid-response was expected'
served refuse-put 1 board
expect_rc 99
expect "$TMP/err" 'the launcher refused to keep a key'
served die-in-fence 2 wait-lost
expect_rc 5
expect "$TMP/err" 'lost the launcher'
served wrong-place 1 board
expect_rc 98
expect "$TMP/err" 'the launcher says rank 0 of 0'
exit 0
