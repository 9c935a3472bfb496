#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
# Who sleeps in the middle of a large body is woken when enough of it is there, and
# for less only when no more can come.
cd "$(dirname "$0")/../.." && . tests/lib.sh
make_tmp
bpf_load 1 >"$TMP/load" || skip "$(tail -n 1 "$TMP/load")"
"$BUILD/tests/system/bpf_wake" "$BPF_DIR/0/0" || fail "woken at the wrong time"
exit 0
