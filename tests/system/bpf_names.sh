#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
# The BPF program knows every connection of a process, whatever its addresses.
cd "$(dirname "$0")/../.." && . tests/lib.sh
make_tmp
ulimit -n 4096
bpf_load 1 >"$TMP/load" || skip "$(tail -n 1 "$TMP/load")"
"$BUILD/tests/system/bpf_names" "$BPF_DIR/0/0" || fail "mistaken for another"
exit 0
