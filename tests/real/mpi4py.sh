#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
# mpi4py, built with our mpicc, and its own test suite, on one to four ranks.
# It skips windows and files, which the library does not have; we leave out new
# processes.
cd "$(dirname "$0")/../.." && . tests/real/lib.sh
make_tmp
python3 -c 'import setuptools, sysconfig, os, sys
sys.exit(not os.path.exists(sysconfig.get_path("include") + "/Python.h"))' ||
	skip "needs python3-dev and python3-setuptools"
fetch_source mpi4py sid trixie bookworm
# Its sources are in Cython: 3.1 in that before 3.0, later ones in a newer one
# than this system may have. It is Python that runs from where it is unpacked.
if [ -e "$REAL/mpi4py/test/main.py" ]; then
	cython=sid
	main="test/main.py"
else
	cython=bookworm
	main="test/runtests.py"
fi
fetch_packages cython-$cython $cython cython3
export PYTHONPATH=$REAL/cython-$cython/usr/lib/python3/dist-packages
export PYTHONDONTWRITEBYTECODE=1
(cd "$REAL/mpi4py" && MPICC=$MPICC python3 setup.py build) >"$TMP/out" 2>"$TMP/err"
check "builds with our mpicc" || summary

# unknown: the tests that failed, without those of the list at the end.
unknown()
{
	sed -nE 's/^(ERROR|FAIL): .*\((.*)\)$/\2/p' "$TMP/err" | sort -u |
		grep -vxF -f <(sed -n '/^## known$/,$s/^# \([^ ]*\) .*/\1/p' "$0")
}

# tests RANKS WORDS: unittest counts what each rank ran. A rank that failed a
# test says so at its end; without such a line it did not come that far.
tests()
{
	(cd "$REAL/mpi4py" && timeout 600 "$MPIEXEC" -n "$1" python3 "$main" \
		--no-numpy -e test_spawn -e test_dynproc) \
		>"$TMP/out" 2>"$TMP/err" </dev/null
	[ "$(grep -cE '^(OK|FAILED) ' "$TMP/err")" = "$1" ] &&
		[ -z "$(unknown)" ]
	judge $? "$1 ranks$2:" $(sed -nE 's/^Ran ([0-9]* tests).*/\1,/p
		s/.*skipped=([0-9]*).*/\1 of them skipped/p' "$TMP/err" | sort -u)
	unknown | head -n 40
}
for n in 1 2 3 4; do
	tests $n
done
O2G_CHANNELS=tcp tests 3 " over tcp"
summary

## known
# test_exceptions.TestExcErrhandlerNull.testFree  wants MPI_ERR_ARG: from before MPI_ERR_ERRHANDLER
# test_exceptions.TestExcErrhandlerNull.testCommSelfSetErrhandler  the same
# test_exceptions.TestExcErrhandlerNull.testCommWorldSetErrhandler  the same
