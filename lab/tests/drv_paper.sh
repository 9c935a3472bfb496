#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
# timeout: 300
# The eight calls of 2004 on the driver: its calls by hand, then the example and
# the tests of the library, which do not know what is behind them; the same as a
# user whose memory may not be pinned, so that dumper threads copy.
. lab/tests/guest.inc
need_driver

for part in paper paper_end; do
	"$BUILD/tests/driver/$part" || fail "not all cases of $part passed"
done

export O2G_PAPER_LOOK="$O2G top -n 1 >/tmp/top && $O2G queues >/tmp/queues"
"$BUILD/tests/driver/paper_end" look__everything >/tmp/out || fail "looking at it"
cat /tmp/top /tmp/queues
grep -Eq '^ *[0-9]+ +eight .* 1 +2$' /tmp/top || fail "o2g top: no such line"
for line in 'the eight calls$' 'receives posted: 1$' \
	'messages nobody has asked for: 2$' ' 0 +9 +0 +ffffffff +500$' \
	' 0 +0 +5 +1000$' ' 3 +0 +6 +2000  arriving$' '^dump area: [0-9]+ bytes' \
	'^sockets: 3$' ' 0 +2 +1010 +1 +0  open$' ' 262144 bytes are waiting for room$' \
	'bytes beyond the end of their receive: 7$'; do
	grep -Eq "$line" /tmp/queues || fail "o2g queues: no $line"
done

# Others may have no way into the tree, so nobody gets a copy.
copy=$(mktemp -d) || fail "no folder for a copy"
cp -r "$BUILD/lib" "$BUILD/examples" "$copy" &&
	cp "$BUILD/tests/unit/test_paper" "$copy" && chmod -R a+rX "$copy" ||
	fail "the copy"
as() { "$@"; }
nobody() { (ulimit -l 8; setpriv --reuid 65534 --regid 65534 --clear-groups "$@"); }
for how in as nobody; do
	$how "$copy/examples/paper_ring" >/tmp/out 2>&1 ||
		{ cat /tmp/out; fail "$how: the example"; }
	grep -q 'all four ranks are content' /tmp/out || fail "$how: the example"
	$how timeout 120 "$copy/test_paper" >/tmp/out 2>&1 ||
		{ cat /tmp/out; fail "$how: test_paper"; }
	grep -q 'going on without' /tmp/out && fail "$how: not on the driver"
	echo "$how: the example and test_paper are fine"
done
