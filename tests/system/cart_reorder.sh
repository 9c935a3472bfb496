#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
# MPI_Cart_create with reorder puts neighbors on the same host. The hosts are
# all this machine, through an agent.
cd "$(dirname "$0")/../.." && . tests/lib.sh && . tests/system/launch.inc

cat >"$TMP/agent" <<'END'
#!/bin/sh
shift
exec "$@"
END
chmod +x "$TMP/agent"

# hosts RANKS-PER-HOST WANT HOST:SLOTS...
hosts()
{
	run -agent "$TMP/agent" -hosts "$3" "$MPI_TESTS/cart_nodes" "$1"
	expect_rc 0
	[ "$(cat "$TMP/out")" = "$2" ] ||
		fail "on $3: $(cat "$TMP/out") pairs on two hosts, not $2"
}

# 4 x 4: rows of four have 12 pairs across, squares of two by two have 8
hosts 4 "12 8" a:4,b:4,c:4,d:4
# 4 x 3: two consecutive ranks are not always neighbors
hosts 2 "13 11" a:2,b:2,c:2,d:2,e:2,f:2
# unlike numbers: as it is
hosts 2 "4 4" a:2,b:1,c:3
