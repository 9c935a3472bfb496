#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
# timeout: 120
# The device of o2g_dsm by hand: what it refuses, what else programs do with memory that
# it serves, nonsense; also as somebody without privileges. DSM_SEED, DSM_ROUNDS.
. lab/tests/guest.inc
need_dsm
prog=$PWD/$BUILD/tests/dsm/device
seed=${DSM_SEED:-$RANDOM}

timeout 50 "$prog" "$seed" "${DSM_ROUNDS:-1000}" || fail "device $seed: $?"
[ "$(stat -c %a /dev/o2g_dsm)" = 666 ] || fail "not for everybody"
timeout 50 setpriv --reuid 65534 --regid 65534 --clear-groups "$prog" "$seed" 100 ||
	fail "device $seed, without privileges: $?"
exit 0
