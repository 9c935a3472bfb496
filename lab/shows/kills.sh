#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
# kill -9 at a random moment, unload, load: kills.sh ROUNDS [WORDS]; the words are
# the driver's parameters.
. lab/tests/guest.inc

"$BUILD/tests/driver/rounds" "$DRIVER" "${1:-1000}" "${FUZZ_SEED:-1}" "${2:-}"
