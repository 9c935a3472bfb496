#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
# mpi4py, built with our mpicc, and its own test suite, alone and on 2 and 3
# ranks.
cd "$(dirname "$0")/../.." && . tests/real/lib.sh
make_tmp
python3 -c 'import setuptools, sysconfig, os, sys
sys.exit(not os.path.exists(sysconfig.get_path("include") + "/Python.h"))' ||
	skip "needs python3-dev and python3-setuptools"
fetch_source mpi4py sid trixie bookworm
# Its sources are in Cython. That of this system is too old for them, and a
# newer one is Python that runs from where it is unpacked.
fetch_packages cython sid cython3
cython=$REAL/cython/usr/lib/python3/dist-packages
export PYTHONPATH=$cython PYTHONDONTWRITEBYTECODE=1
(cd "$REAL/mpi4py" && MPICC=$MPICC python3 setup.py build) >"$TMP/out" 2>"$TMP/err"
check "builds with our mpicc"

# tests RANKS: the last line of unittest counts.
tests()
{
	local words

	(cd "$REAL/mpi4py" && timeout 1200 "$MPIEXEC" -n "$1" python3 test/main.py \
		--no-numpy -x TestSpawn -x test_spawn -x test_rma -x test_io) \
		>"$TMP/out" 2>"$TMP/err" </dev/null
	[ $? = 0 ] && ! grep -q '^FAILED' "$TMP/err"
	words=$(grep -E '^(Ran|OK|FAILED)' "$TMP/err" | sort -u | tr '\n' ' ')
	[ $? = 0 ] && grep -q '^OK' "$TMP/err"
	check "$1 ranks: $words"
	grep -E '^(ERROR|FAIL):' "$TMP/err" | sort -u | head -n 40
}
for n in 1 2 3; do
	tests $n
done
summary
