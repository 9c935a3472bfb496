# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
#
# For the scripts of tests/real: source it in the root of the tree. They run
# programs that others have written, which scripts fetch from Debian's archive
# into $REAL; nothing of them is kept in this tree.

. tests/lib.sh
REAL=$PWD/$BUILD/real
mkdir -p "$REAL"
passed=0
failed=0

# check WORDS: after a command; counts it, and shows $TMP/out and err if it
# failed.
check()
{
	if [ $? = 0 ]; then
		passed=$((passed + 1))
		echo "ok      $*"
		return
	fi
	failed=$((failed + 1))
	echo "FAILED  $*"
	tail -n 20 "$TMP/out" "$TMP/err" 2>/dev/null | sed 's/^/    | /'
}

# The last line, as of tests/run.
summary()
{
	echo "$(basename "$0"): $passed passed, $failed failed"
	[ $failed = 0 ]
	exit
}
