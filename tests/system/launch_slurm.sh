#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
# timeout: 120
# A Slurm of one node is started on this machine, in a network of its own, runs
# our programs with srun, by PMI-2 and by PMIx, and is ended again. Everything
# that Slurm writes is in a directory that is removed. Needs root and Debian's
# packages slurm-wlm and munge.
cd "$(dirname "$0")/../.." && . tests/real/lib.sh

need_root
own_network
for c in munged slurmctld slurmd srun; do
	PATH=$PATH:/usr/sbin command -v $c >/dev/null ||
		skip "$c is missing: apt-get install slurm-wlm munge"
done
PATH=$PATH:/usr/sbin
make_tmp
pids=()

at_exit()
{
	# The last started first: a controller wants to hear of its node.
	for ((i = ${#pids[@]} - 1; i >= 0; i--)); do
		kill "${pids[i]}" 2>/dev/null
		wait_for 5 eval "! kill -0 ${pids[i]}" || kill -KILL "${pids[i]}"
		wait "${pids[i]}" 2>/dev/null
	done
}

start()
{
	"$@" >>"$TMP/$1.out" 2>&1 </dev/null &
	pids+=($!)
}

host=$(hostname -s)
port=6817
mkdir -m 755 "$TMP/state" "$TMP/spool"
chmod 755 "$TMP"
(umask 077 && head -c 1024 /dev/urandom >"$TMP/munge.key")
cat >"$TMP/slurm.conf" <<END
ClusterName=o2gtest
SlurmctldHost=$host(127.0.0.1)
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket=$TMP/munge.sock
CredType=cred/munge
SlurmctldPort=$port
SlurmdPort=$((port + 1))
SlurmctldPidFile=$TMP/slurmctld.pid
SlurmdPidFile=$TMP/slurmd.pid
SlurmctldLogFile=$TMP/slurmctld.log
SlurmdLogFile=$TMP/slurmd.log
StateSaveLocation=$TMP/state
SlurmdSpoolDir=$TMP/spool
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
SchedulerType=sched/builtin
SelectType=select/linear
MpiDefault=none
ReturnToService=2
NodeName=$host NodeAddr=127.0.0.1 CPUs=$(nproc) State=UNKNOWN
PartitionName=all Nodes=$host Default=YES MaxTime=INFINITE State=UP
END
export SLURM_CONF=$TMP/slurm.conf

start munged --foreground --force --num-threads=1 --key-file="$TMP/munge.key" \
	--socket="$TMP/munge.sock" --pid-file="$TMP/munge.pid" \
	--log-file="$TMP/munge.log" --seed-file="$TMP/munge.seed"
wait_for 10 test -S "$TMP/munge.sock" || fail "munged: $(cat "$TMP/munged.out")"
start slurmctld -D -f "$SLURM_CONF"
start slurmd -D -f "$SLURM_CONF"
node_is_up()
{
	sinfo -h -o %t | grep -Eq 'idle|mix|alloc'
}
wait_for 30 node_is_up || {
	tail -n 5 "$TMP"/*.log "$TMP"/*.out >&2
	fail "Slurm does not start"
}

# srun_is KIND RANKS PROGRAM ARGUMENTS: as srun runs it.
srun_is()
{
	local kind=$1 n=$2

	shift 2
	timeout 60 srun --mpi="$kind" --overcommit -n "$n" "$@" \
		>"$TMP/out" 2>"$TMP/err" </dev/null
	rc=$?
}

mpis=pmi2
srun --mpi=list 2>&1 | grep -q pmix && mpis+=" pmix"
for kind in $mpis; do
	srun_is "$kind" 4 "$BUILD/tests/system/pmi_prog" board
	[ $rc = 0 ] && [ "$(grep -c 'of 4 .* board ok' "$TMP/out")" = 4 ]
	check "srun --mpi=$kind: a board of 4 ranks"
	srun_is "$kind" 4 "$BUILD/examples/ring"
	[ $rc = 0 ] && grep -q '^4 ranks' "$TMP/out"
	judge $? "srun --mpi=$kind: $(cat "$TMP/out")"
	srun_is "$kind" 3 "$BUILD/tests/mpi/coll_random"
	[ $rc = 0 ]
	check "srun --mpi=$kind: collectives of 3 ranks"
	# by an mpiexec of the root's, in Slurm's allocation
	srun_is "$kind" 2 "$BUILD/tests/mpi/dyn_pool" 2 2 50
	[ $rc = 0 ]
	judge $? "srun --mpi=$kind: spawned workers $(tail -n 3 "$TMP/err")"
	srun_is "$kind" 2 "$BUILD/tests/system/pmi_prog" abort 7
	[ $rc != 0 ] && [ $rc != 124 ]
	check "srun --mpi=$kind: an abort ends the job"
done
# Our mpiexec in an allocation: its host and slots, also reached by srun.
for how in "" -force-agent; do
	timeout 60 salloc --quiet -N 1 -n 2 --overcommit "$MPIEXEC" -v $how \
		"$BUILD/examples/ring" >"$TMP/out" 2>"$TMP/err" </dev/null
	rc=$?
	[ $rc = 0 ] && grep -q '^2 ranks' "$TMP/out" &&
		grep -q 'in a job of Slurm, with 1 host' "$TMP/err"
	judge $? "salloc mpiexec $how: $(cat "$TMP/out") $(tail -n 3 "$TMP/err")"
done
# Without one of these every process would be a job of its own.
srun_is none 2 "$BUILD/examples/ring"
[ $rc != 0 ] && grep -q 'use srun --mpi=pmi2' "$TMP/err"
check "srun --mpi=none is refused in words"
summary
