#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
# The library's side of PMI: alone, under Hydra, under launchers that it does
# not understand, and when the launcher dies.
cd "$(dirname "$0")/../.." && . tests/lib.sh && . tests/system/launch.inc

# plain VAR=VALUE... ARGUMENTS: the program started without mpiexec.
plain()
{
	timeout 10 env "$@" </dev/null >"$TMP/out" 2>"$TMP/err"
	rc=$?
}

plain "$PROG" singleton
expect_rc 0
sorted_is alone
plain "$PROG" board
expect_rc 0
plain "$PROG" threads
expect_rc 0
run -n 3 "$PROG" threads
expect_rc 0
expect_lines "$TMP/out" 3

# Two lines that name the launcher and say what to do, and no silent rank 0.
refused()
{
	local name=$1

	shift
	plain "$@" "$PROG" board
	expect_rc 98
	expect_lines "$TMP/out" 0
	expect_lines "$TMP/err" 2
	expect "$TMP/err" "started by .*$name"
	expect "$TMP/err" "O2G's mpiexec"
}
refused "Open MPI" OMPI_COMM_WORLD_SIZE=2 OMPI_COMM_WORLD_RANK=0 PMIX_RANK=0
refused "Slurm" SLURM_PROCID=0 SLURM_NTASKS=2
refused "Slurm" SLURM_PROCID=1 SLURM_NTASKS=4 SLURM_STEP_NUM_TASKS=2 \
	SLURM_JOB_ID=1 SLURM_STEP_ID=0
refused "Flux" FLUX_TASK_RANK=0 FLUX_JOB_SIZE=3
refused "PALS" PALS_RANKID=0
refused "PMIx" PMIX_RANK=0 PMIX_NAMESPACE=x
refused "jsrun" JSM_NAMESPACE_RANK=1 JSM_NAMESPACE_SIZE=2
refused "neither PMI_FD nor PMI_PORT" PMI_RANK=0 PMI_SIZE=2

# One process in all is no reason to refuse.
for vars in "OMPI_COMM_WORLD_SIZE=1 PMIX_RANK=0" "SLURM_PROCID=0 SLURM_NTASKS=1" \
	"SLURM_NTASKS=8" "SLURM_PROCID=0 SLURM_NTASKS=8 SLURM_JOB_ID=3" \
	"FLUX_TASK_RANK=0 FLUX_JOB_SIZE=1" \
	"OMPI_COMM_WORLD_SIZE=2 O2G_LAUNCHER=none"; do
	plain $vars "$PROG" singleton
	expect_rc 0
	sorted_is alone
done

# A descriptor that is none, is not open, is a file, or belongs to somebody who
# speaks something else or nothing.
plain PMI_FD=x PMI_RANK=0 PMI_SIZE=1 "$PROG"
expect_rc 98
expect "$TMP/err" 'PMI_FD is "x", which is not a descriptor'
plain PMI_FD=77 PMI_RANK=0 PMI_SIZE=1 "$PROG"
expect_rc 98
expect "$TMP/err" 'PMI_FD is 77, but no launcher is behind'
plain PMI_FD=1 PMI_RANK=0 PMI_SIZE=1 "$PROG"
expect_rc 98
expect "$TMP/err" 'PMI_FD is 1, but no launcher is behind'
expect_lines "$TMP/out" 0
# A pipe answers nobody, whichever end it is.
plain PMI_FD=9 PMI_RANK=0 PMI_SIZE=1 "$PROG" 9> >(cat >"$TMP/written")
expect_rc 98
expect "$TMP/err" 'PMI_FD is 9, but no launcher is behind'
plain PMI_FD=9 PMI_RANK=0 PMI_SIZE=1 "$PROG" 9< <(echo hello)
expect_rc 98
expect "$TMP/err" 'PMI_FD is 9, but no launcher is behind'
plain PMI_PORT=nonsense PMI_ID=0 "$PROG"
expect_rc 98
expect "$TMP/err" 'PMI_PORT is "nonsense", but HOST:PORT is expected'
plain PMI_PORT=127.0.0.1:1 PMI_ID=0 "$PROG"
expect_rc 98
expect "$TMP/err" 'cannot reach the launcher at 127.0.0.1 port 1: Connection refused'

# served ANSWER...: a launcher that gives these answers, one to each question.
served()
{
	timeout 15 python3 - "$PROG" "$@" >"$TMP/out" 2>"$TMP/err" <<'END'
import os, socket, subprocess, sys
ours, theirs = socket.socketpair()
env = dict(os.environ, PMI_FD=str(theirs.fileno()), PMI_RANK="0", PMI_SIZE="1")
rank = subprocess.Popen([sys.argv[1], "wait-lost"], env=env,
                        pass_fds=[theirs.fileno()])
theirs.close()
for answer in sys.argv[2:]:
    ours.recv(4096)
    for byte in (answer + "\n").encode():   # in the smallest pieces
        ours.send(bytes([byte]))
ours.recv(4096)
ours.close()
sys.exit(rank.wait())
END
	rc=$?
}
if command -v python3 >/dev/null; then
	served "cmd=response_to_init pmi_version=2 pmi_subversion=0 rc=-1"
	expect_rc 98
	expect "$TMP/err" 'the launcher speaks PMI version 2 here'
	served "HTTP/1.0 400 Bad Request"
	expect_rc 98
	expect "$TMP/err" 'the launcher answered "HTTP/1.0 400 Bad Request", but'
	served "cmd=response_to_init rc=0 pmi_version=1 pmi_subversion=1" \
		"cmd=maxes rc=0 kvsname_max=256 keylen_max=64 vallen_max=1024" \
		"cmd=my_kvsname rc=0 kvsname=k" "cmd=appnum rc=0 appnum=0" \
		"cmd=universe_size rc=0 size=-1" \
		"cmd=get_result rc=-1 msg=key_not_found"
	expect_rc 5
	expect "$TMP/err" 'lost the launcher \(end of file\): it has died'
else
	echo "not tested: launchers that misbehave, for want of python3"
fi

# Hydra, both ways it can be reached, and by the PMI-2 that it speaks as well.
hydra()
{
	timeout 20 mpiexec.hydra "$@" </dev/null >"$TMP/out" 2>"$TMP/err"
	rc=$?
}
if command -v mpiexec.hydra >/dev/null; then
	for option in "" -pmi-port "-genv O2G_LAUNCHER pmi2"; do
		hydra $option -n 2 "$PROG" : -n 1 "$PROG"
		expect_rc 0
		[ "$(grep -c 'of 3 app [01] universe .* board ok' "$TMP/out")" = 3 ] ||
			fail "under mpiexec.hydra $option"
	done
	hydra -n 2 "$PROG" abort 7
	expect_rc 7
	cat "$TMP/out" "$TMP/err" >"$TMP/both"
	expect "$TMP/both" 'asked to'
else
	echo "not tested: Hydra, which is in Debian's package mpich"
fi

# Open MPI's launcher, by PMIx.
openmpi()
{
	OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 timeout 20 \
		mpiexec.openmpi --oversubscribe "$@" </dev/null \
		>"$TMP/out" 2>"$TMP/err"
	rc=$?
}
if command -v mpiexec.openmpi >/dev/null; then
	openmpi -n 3 "$PROG" board
	expect_rc 0
	[ "$(grep -c 'of 3 app 0 universe .* board ok' "$TMP/out")" = 3 ] ||
		fail "under mpiexec.openmpi"
	# Debian 13's dies when it is to start two programs, whichever.
	openmpi -n 1 true : -n 1 true
	if [ $rc = 0 ]; then
		openmpi -n 2 "$PROG" board : -n 1 "$PROG" board
		expect_rc 0
		[ "$(grep -c 'of 3 app [01] universe .* board ok' "$TMP/out")" = 3 ] ||
			fail "two programs under mpiexec.openmpi"
	else
		echo "left out: this mpiexec.openmpi cannot start two programs"
	fi
	openmpi -n 2 "$PROG" threads
	expect_rc 0
	openmpi -n 2 "$PROG" abort 7
	expect_rc 7
	cat "$TMP/out" "$TMP/err" >"$TMP/both"
	expect "$TMP/both" 'asked to'
	openmpi -n 2 "$PROG" abort-in-barrier
	expect_rc 23
	openmpi -n 3 "$PWD/$BUILD/examples/ring"
	expect_rc 0
	expect "$TMP/out" '^3 ranks'
else
	echo "not tested: PMIx, which Debian's package openmpi-bin speaks"
fi
# A launcher of that kind, but not its library: the loader is made to find one
# that is none.
mkdir "$TMP/lib" && echo >"$TMP/lib/libpmix.so.2"
plain LD_LIBRARY_PATH="$TMP/lib" PMIX_NAMESPACE=x PMIX_RANK=0 \
	PMIX_SERVER_URI4=x "$PROG" board
expect_rc 98
expect_lines "$TMP/err" 2
expect "$TMP/err" 'PMIx launcher .* cannot be loaded: .*libpmix.so.2'
expect "$TMP/err" "O2G's mpiexec"
exit 0
