#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
# Segments that repeat a part of what has come, as after a loss: no byte comes twice.
cd "$(dirname "$0")/../.." && . tests/lib.sh
make_tmp
bpf_load 1 >"$TMP/load" || skip "$(tail -n 1 "$TMP/load")"
"$BUILD/tests/system/bpf_overlap" "$BPF_DIR/0/0" || fail "bytes came twice"
exit 0
